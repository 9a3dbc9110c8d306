import { loadavg } from 'node:os';
import { jsonHeaders, startBenchGateway } from './support/gateway.ts';
import type { BenchGateway } from './support/gateway.ts';
import { expectStatus, openConnections } from './support/http-connections.ts';
import { runLoad } from './support/load.ts';
import type { LoadResult } from './support/load.ts';
import type { BenchOptions } from './support/options.ts';
import { publish, short } from './support/report.ts';
import type { Row } from './support/report.ts';
import { openStand } from './support/stand.ts';

/**
 * What one account's creates cost while another one floods: a single caller of the second account, alone and beside 24
 * connections of the first, all creating. Limits of keys are off, as otherwise the flood would be refused.
 */

const floodConnectionsDefault = 24;
const countMax = 100_000;
const secondsDefault = 15;

export async function benchFairness(options: BenchOptions): Promise<void> {
  const load = loadavg();
  const seconds = options.seconds ?? (options.quick ? 2 : secondsDefault);
  const floodConnections = options.connections?.[0] ?? floodConnectionsDefault;
  const { profile, checkout } = options;
  const stand = await openStand();
  try {
    const gateway = await startBenchGateway(stand, {
      profile,
      accounts: 2,
      ...(checkout === undefined ? {} : { checkout }),
    });
    const create = creator(gateway);
    const flood = { account: 0, concurrency: floodConnections };
    const second = { account: 1, concurrency: 1 };
    await create(flood, seconds);
    const alone = await create(second, seconds);
    const [first, beside] = await Promise.all([create(flood, seconds), create(second, seconds)]);
    const rows = [row('second account, alone', alone), row('second account, beside the flood', beside)];
    await publish(
      {
        name: 'fairness',
        command: options.command,
        setting: { MongoDB: stand.mongoKind, seconds },
        tables: [
          { title: 'Creates', rows: [...rows, row(`the flood (${floodConnections} connections)`, first)] },
        ],
        goals: [],
        raw: { alone, beside, first },
      },
      load,
    );
    await gateway.close();
  } finally {
    await stand.close();
  }
}

interface Callers {
  /** Which of the gateway's accounts. */
  readonly account: number;
  readonly concurrency: number;
}

/** On the channel that no worker serves: all that happens is the create. */
function creator(gateway: BenchGateway) {
  return async ({ account, concurrency }: Callers, seconds: number): Promise<LoadResult> => {
    const connections = openConnections(gateway.url, concurrency);
    const headers = jsonHeaders(gateway.keys[account] ?? '');
    const body = gateway.videoBody('parked');
    const path = '/v1/videos/generations';
    try {
      return await runLoad({
        concurrency,
        seconds,
        countMax,
        once: async (caller) =>
          void expectStatus(await connections.call(caller, { method: 'POST', path, headers, body }), 200),
      });
    } finally {
      await connections.close();
    }
  };
}

function row(who: string, { rate, p50, p99, max, count, failed }: LoadResult): Row {
  return {
    who,
    creates: count,
    failed,
    'per second': short(rate),
    'p50 ms': short(p50),
    'p99 ms': short(p99),
    'max ms': short(max),
  };
}
