import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { overviewSchema, presentOverview, type Counted } from '../presenters/overview.ts';
import { adminRoute, jsonReply, letsIn, type Route } from '../route.ts';
import { createSharedRead } from '../../base/shared-read.ts';

type Deps = Pick<
  RouteDeps,
  'takeCensus' | 'accounts' | 'tasks' | 'notices' | 'readHealth' | 'workflowsUrl' | 'now'
>;

const sharedMs = 5_000;
const hourMs = 60 * 60_000;
const latenessHours = 3;
const noticesMax = 200;

export function getOverview(deps: Deps, routes: () => readonly Route[]): Route {
  const counted = createSharedRead(() => count(deps), { ms: sharedMs, now: deps.now });
  return adminRoute({
    operationId: 'getOverview',
    access: 'read',
    summary: 'Show the gateway’s state',
    description:
      'Shows the conditions that need attention, the unfinished tasks, the balances, how many tasks were created and ended, and how quickly results are delivered.',
    method: 'get',
    paths: ['/admin/v1/overview'],
    input: z.object({}),
    success: { description: 'The counts, and the operator whose token was sent.', schema: overviewSchema },
    async handle({ operator: name, roles }) {
      const operations = routes().flatMap((route) =>
        route.authentication === 'admin' && letsIn(route.access, { roles }) ? route.operationId : [],
      );
      const audience = { name, roles, operations, workflowsUrl: deps.workflowsUrl };
      const [counts, health] = await Promise.all([counted(), deps.readHealth()]);
      return jsonReply(presentOverview({ ...counts, health }, audience));
    },
  });
}

async function count({ takeCensus, accounts, tasks, notices, now }: Deps): Promise<Omit<Counted, 'health'>> {
  const [census, hour, day, lateness, open, first] = await Promise.all([
    takeCensus(),
    tasks.countSince(now() - hourMs),
    tasks.countSince(now() - 24 * hourMs),
    tasks.latenessSince(now() - latenessHours * hourMs),
    notices.list('open', noticesMax),
    accounts.list({ limit: 1 }),
  ]);
  const found = { lateness, notices: open.map(({ notice }) => notice), isFirstRun: first.length === 0 };
  return { census, throughput: { hour, day }, ...found };
}
