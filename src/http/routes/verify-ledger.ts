import { z } from 'zod';
import type { VerifyResult } from '../../ledger/verify.ts';
import type { RouteDeps } from '../deps.ts';
import { adminRoute, type Route } from '../route.ts';
import { oneAtATime, workingMediaType, type Watching } from '../working-reply.ts';

type Deps = Pick<RouteDeps, 'verifyLedger' | 'log'>;

export function verifyLedger({ verifyLedger: verify, log }: Deps): Route {
  const alone = oneAtATime('This node is already verifying the ledger.');

  async function run(watching: Watching, operator: string): Promise<object> {
    const result = await verify(watching);
    log.info({ operator, count: result.violationCount }, 'the ledger was verified');
    return present(result);
  }

  return adminRoute({
    operationId: 'verifyLedger',
    access: 'amounts',
    summary: 'Check every invariant of the ledger',
    description:
      'Reads the whole ledger and changes nothing. The response is one line of JSON per second, `{"progress":{"accounts","entries"}}`, and finally `{"result":…}` or `{"error":…}`. The work stops when the caller disconnects. Each node runs only one such request at a time.',
    method: 'post',
    paths: ['/admin/v1/ledger/verify'],
    input: z.object({}),
    success: { description: 'Lines of JSON.', mediaType: workingMediaType },
    errors: ['concurrency_limit_exceeded'],
    handle({ meta, operator }) {
      const onError = (err: unknown) => log.error({ err, operator }, 'the ledger could not be verified');
      return alone({ run: (watching) => run(watching, operator), signal: meta.closed(), onError });
    },
  });
}

function present({
  accounts,
  entries,
  openHolds,
  violations,
  violationCount,
  outside,
}: VerifyResult): object {
  const counts = { violation_count: violationCount, violations };
  return { accounts, entries, open_holds: openHolds, exported_heads: presentOutside(outside), ...counts };
}

function presentOutside(outside: VerifyResult['outside']): object | null {
  if (outside === undefined) return null;
  const { notCompared, ...compared } = outside;
  return { ...compared, not_compared: notCompared };
}
