import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import type { OperatorIdentity } from '../../base/operator.ts';
import type { Task } from '../../task/record.ts';
import { accountParams, findAccount } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { presentAccount } from '../presenters/account.ts';
import { presentAdminTask } from '../presenters/admin-task.ts';
import { presentKey } from '../presenters/key.ts';
import { presentLedgerEntry } from '../presenters/ledger-entry.ts';
import { beginReport } from '../report-reply.ts';
import { adminRoute, madeWhileSent, type Route } from '../route.ts';

type Deps = Pick<
  RouteDeps,
  'accounts' | 'keys' | 'tasks' | 'requests' | 'ledger' | 'mediaUrl' | 'nodes' | 'reports'
>;

const pageTasks = 100;
/** Pages are small, because a single entry's basis may be 64 KiB long. */
const pageEntries = 200;

export function exportAccount(deps: Deps): Route {
  return adminRoute({
    operationId: 'exportAccount',
    access: 'content',
    summary: 'Export everything the gateway keeps about an account',
    description:
      'Writes one object per line: the account, its keys without any secret, its tasks (newest first, each with its request if that is still kept), every entry of its ledger, and finally one line with the number of each. If that last line is missing, the export is incomplete. The data is streamed.',
    method: 'get',
    paths: ['/admin/v1/accounts/:account/export'],
    input: z.object({ params: accountParams }),
    success: { description: 'The lines.', mediaType: 'application/x-ndjson' },
    errors: ['account_not_found', 'concurrency_limit_exceeded'],
    async handle({ params, roles, operator }) {
      const { id } = await findAccount(deps.accounts, params.account);
      return madeWhileSent(written(id, roles, deps), {
        onEnd: beginReport(deps.reports, operator),
        headers: {
          'cache-control': 'no-store',
          'content-disposition': `attachment; filename="account-${id}.jsonl"`,
        },
        mediaType: 'application/x-ndjson',
      });
    },
  });
}

async function* written(id: string, roles: OperatorIdentity['roles'], deps: Deps): AsyncIterable<string> {
  const counts = { keys: 0, tasks: 0, entries: 0 };
  const [account, balance] = await Promise.all([findAccount(deps.accounts, id), deps.ledger.balance(id)]);
  yield line({ object: 'export.account', account: presentAccount(account, balance) });
  for await (const key of deps.keys.ofAccount(id)) {
    counts.keys += 1;
    yield line({ object: 'export.key', key: presentKey(key) });
  }
  for await (const task of taskLines(id, roles, deps)) {
    counts.tasks += 1;
    yield task;
  }
  for (let after = 0n; after < balance.seq;) {
    const limit = Math.min(pageEntries, Number(balance.seq - after));
    const entries = await deps.ledger.entries(id, { after, limit });
    after = entries.at(-1)?.seq ?? balance.seq;
    counts.entries += entries.length;
    yield entries.map((entry) => line({ object: 'export.entry', entry: presentLedgerEntry(entry) })).join('');
  }
  yield line({ object: 'export.end', ...counts });
}

/** Reads one request at a time, because each can be many megabytes long. */
async function* taskLines(
  account: string,
  roles: OperatorIdentity['roles'],
  { tasks, requests, mediaUrl, nodes }: Deps,
): AsyncIterable<string> {
  for (let after: Task | undefined, isMore = true; isMore;) {
    const page = await tasks.list({ account }, { limit: pageTasks, ...defined({ after }) });
    for (const task of page.tasks) {
      const { request, callbackUrl } = (await requests.find(task.id)) ?? {};
      const asked = { request: request ?? null, callback_url: callbackUrl ?? null };
      yield line({
        object: 'export.task',
        task: presentAdminTask(task, { roles, mediaUrl, nodes }),
        ...asked,
      });
    }
    after = page.tasks.at(-1);
    isMore = page.hasMore;
  }
}

function line(fields: object): string {
  return `${JSON.stringify(fields)}\n`;
}
