import { setTimeout as delay } from 'node:timers/promises';
import { loadavg } from 'node:os';
import { jsonHeaders, simulatorKey, startBenchGateway, videoModel } from './support/gateway.ts';
import type { BenchGateway } from './support/gateway.ts';
import { expectStatus, openConnections } from './support/http-connections.ts';
import type { BenchOptions } from './support/options.ts';
import { publish, short } from './support/report.ts';
import type { Row } from './support/report.ts';
import { openStand, waitUntil } from './support/stand.ts';

/**
 * Measures how long healthy tasks wait for their submission while another model or account fails on the same
 * credential. Its submissions are refused for a while, or their responses are lost.
 */

const countDefault = 500;
const quickCount = 40;
const everyMsDefault = 200;
/** After every `sickEvery` healthy tasks, the neighbour creates `sickAtOnce` tasks at once. */
const sickEvery = 50;
const sickAtOnce = 20;
const goalMs = 5_000;
const accounts = 4;
const settledWithinMs = 300_000;
const models = ['well-a', 'well-b', 'well-c'] as const;
/** The sick tasks take these faults in turn. Those that end after some tries make the vendor seem to recover. */
const faults = ['create:503*4', 'create:500*1', 'create:accepted-504', 'create:429*3'] as const;

type Neighbour = 'none' | 'model' | 'account';

interface Waits {
  /** How often circuits opened during the measurement. */
  readonly openings: number;
  readonly sorted: readonly number[];
  readonly unsubmitted: number;
}

export async function benchFlapping(options: BenchOptions): Promise<void> {
  const load = loadavg();
  const count = options.count ?? (options.quick ? quickCount : countDefault);
  const stand = await openStand();
  try {
    const { profile } = options;
    const all = [...models, 'sick'];
    const gateway = await startBenchGateway(stand, {
      profile,
      accounts: accounts + 1,
      channels: sharedChannel(all),
      models: all.map((id) => videoModel(id, 1)).join(''),
    });
    await measure(gateway, 'none', Math.ceil(count / 10));
    const alone = await measure(gateway, 'none', count);
    const besideModel = await measure(gateway, 'model', count);
    const besideAccount = await measure(gateway, 'account', count);
    const before = alone.sorted.at(-1) ?? 0;
    const goal = (what: string, { sorted, unsubmitted }: Waits) => {
      const more = (sorted.at(-1) ?? Infinity) - before;
      const measured = `${short(more / 1000)} s more, ${unsubmitted} not submitted`;
      return { what, goal: 'at most 5 s more', measured, met: more <= goalMs && unsubmitted === 0 };
    };
    await publish(
      {
        name: 'flapping',
        command: options.command,
        setting: { MongoDB: stand.mongoKind, tasks: count },
        tables: [
          {
            title: 'Time from the create to the submission',
            rows: [
              row('alone', alone),
              row('beside a sick model', besideModel),
              row('beside a sick account', besideAccount),
            ],
          },
        ],
        goals: [
          goal('slowest healthy task beside a sick model', besideModel),
          goal('slowest healthy task beside a sick account', besideAccount),
        ],
        raw: { alone, besideModel, besideAccount },
      },
      load,
    );
    await gateway.close();
  } finally {
    await stand.close();
  }
}

function sharedChannel(served: readonly string[]): string {
  const mapped = served.map((model) => `${model}: { upstream: dreamina-seedance-2-0-260128 }`);
  return `  - id: shared
    provider: ark
    base_url: \${SIMULATOR_URL}/ark/api/v3
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: ${simulatorKey} }]
    callbacks: false
    limits: { submits_per_second: 50, polls_per_second: 100 }
    timeouts: { submit_ms: 60000, poll_ms: 60000 }
    models: { ${mapped.join(', ')} }
`;
}

/** Creates healthy tasks at a steady rate beside the neighbour, and returns how long they waited. */
async function measure(gateway: BenchGateway, neighbour: Neighbour, count: number): Promise<Waits> {
  const connections = openConnections(gateway.url, sickAtOnce);
  const path = '/v1/videos/generations';
  const create = async (model: string, { account, prompt }: Creating, caller = 0) => {
    const headers = jsonHeaders(gateway.keys[account] ?? '');
    const body = gateway.videoBody('short', { model, prompt });
    expectStatus(await connections.call(caller, { method: 'POST', path, headers, body }), 200);
  };
  let sick = 0;
  const createSick = async (caller: number) => {
    // The prompts must differ, because the simulator counts refusals by prompt.
    const prompt = `${neighbour} ${(sick += 1)} [sim:${faults[caller % faults.length]}]`;
    if (neighbour === 'model') return create('sick', { account: caller % accounts, prompt }, caller);
    return create(models[0], { account: accounts, prompt }, caller);
  };
  const callers = Array.from({ length: sickAtOnce }, (_, caller) => caller);
  const since = Date.now();
  try {
    for (let n = 0; n < count; n += 1) {
      const dueAt = since + n * everyMsDefault;
      await delay(Math.max(0, dueAt - Date.now()));
      if (neighbour !== 'none' && n % sickEvery === 0) await Promise.all(callers.map(createSick));
      await create(models[n % models.length] ?? '', {
        account: Math.floor(n / models.length) % accounts,
        prompt: 'a boat [sim:render=1]',
      });
    }
  } finally {
    await connections.close();
  }
  return waitsOf(gateway, { since, count });
}

interface Creating {
  readonly account: number;
  readonly prompt: string;
}

interface Submitted {
  readonly createdAt: number;
  readonly attempts: readonly { readonly state: string; readonly startedAt: number }[];
}

async function waitsOf(
  { db }: BenchGateway,
  { since, count }: { readonly since: number; readonly count: number },
): Promise<Waits> {
  const well = { account: { $ne: `account-${accounts}` }, model: { $in: [...models] } };
  const read = async () => {
    const found = await db
      .collection('tasks')
      .find<Submitted>({ ...well, createdAt: { $gte: since } })
      .project<Submitted>({ createdAt: 1, attempts: 1 })
      .toArray();
    return found.flatMap(({ createdAt, attempts }) => {
      const accepted = attempts.find(({ state }) => state === 'accepted');
      return accepted === undefined ? [] : [Number(accepted.startedAt) - Number(createdAt)];
    });
  };
  let waits: readonly number[] = [];
  const isSubmitted = async () => (waits = await read()).length >= count;
  // After the deadline, the remaining tasks count as unsubmitted.
  await waitUntil('every healthy task is submitted', isSubmitted, { deadlineMs: settledWithinMs }).catch(
    () => undefined,
  );
  const circuits = await db
    .collection('channel_health')
    .find<{ openings?: readonly { readonly at: number }[] }>({})
    .toArray();
  const openings = circuits.flatMap(({ openings: all = [] }) => all.filter(({ at }) => Number(at) >= since));
  return {
    openings: openings.length,
    sorted: waits.toSorted((a, b) => a - b),
    unsubmitted: count - waits.length,
  };
}

function row(beside: string, { openings, sorted, unsubmitted }: Waits): Row {
  const at = (share: number) =>
    short(sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN);
  return {
    beside,
    'circuits opened': openings,
    tasks: sorted.length,
    'not submitted': unsubmitted,
    'p50 ms': at(0.5),
    'p99 ms': at(0.99),
    'slowest ms': at(1),
  };
}
