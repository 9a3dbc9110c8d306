import { setTimeout as delay } from 'node:timers/promises';
import { waitUntil } from '../stand/stand.ts';
import type { Stand } from '../stand/stand.ts';
import { jsonHeaders, startBenchGateway, videoModel } from './support/gateway.ts';
import type { BenchGateway } from './support/gateway.ts';
import { expectStatus, openConnections } from './support/http-connections.ts';
import type { BenchOptions } from './support/options.ts';
import { short } from './support/report.ts';
import type { Report } from './support/report.ts';

/**
 * Measures how long healthy tasks wait for submission while another model or account fails on the same credential: its
 * submissions are refused for a while, or their responses are lost.
 */

const accounts = 4;
const models = ['well-a', 'well-b', 'well-c'] as const;
const everyMs = 200;
/** After every `sickEvery` healthy tasks, the neighbour creates `sickAtOnce` tasks simultaneously. */
const sickEvery = 50;
const sickAtOnce = 20;
/** The sick tasks take these faults in turn. With faults that end after a few attempts, the vendor seems to recover. */
const faults = ['create:503*4', 'create:500*1', 'create:accepted-504', 'create:429*3'] as const;
const goalMs = 5_000;
const submittedWithinMs = 300_000;
const neighbours = ['nobody', 'a sick model', 'a sick account'] as const;

export async function benchFlapping({ count, quick, profile }: BenchOptions, stand: Stand): Promise<Report> {
  const tasks = count ?? (quick ? 60 : 500);
  const all = [...models, 'sick'];
  const gateway = await startBenchGateway(stand, {
    profile,
    accounts: accounts + 1,
    channels: sharedChannel(all),
    models: all.map((id) => videoModel(id, 1)).join(''),
  });
  const measured = [];
  for (const beside of neighbours) measured.push({ beside, ...(await measure(gateway, beside, tasks)) });
  await gateway.close();
  const alone = measured[0]?.slowest ?? 0;
  return {
    setting: { tasks },
    tables: [{ title: 'From the create to the submission, in milliseconds', rows: measured }],
    goals: measured.slice(1).map(({ beside, slowest, unsubmitted }) => ({
      what: `slowest healthy task beside ${beside}`,
      goal: `at most ${goalMs / 1000} s more`,
      measured: `${short((slowest - alone) / 1000)} s more, ${unsubmitted} not submitted`,
      met: slowest - alone <= goalMs && unsubmitted === 0,
    })),
    raw: measured,
  };
}

function sharedChannel(served: readonly string[]): string {
  const mapped = served.map((model) => `${model}: { upstream: dreamina-seedance-2-0-260128 }`);
  return `  - id: shared
    provider: ark
    base_url: \${SIMULATOR_URL}/ark/api/v3
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    callbacks: false
    limits: { submits_per_second: 50, polls_per_second: 100, concurrent_tasks: 200 }
    timeouts: { submit_ms: 60000, poll_ms: 60000 }
    models: { ${mapped.join(', ')} }
`;
}

/** Creates healthy tasks at a steady rate alongside the noisy neighbour. Returns their waiting times. */
async function measure(gateway: BenchGateway, beside: (typeof neighbours)[number], count: number) {
  const connections = openConnections(gateway.url, sickAtOnce);
  const create = async (account: number, body: { model: string; prompt: string }, caller = 0) => {
    const call = { method: 'POST', path: '/v1/videos/generations' } as const;
    const headers = jsonHeaders(gateway.keys[account] ?? '');
    const video = { duration: 5, resolution: '720p', ratio: '16:9', ...body };
    expectStatus(await connections.call(caller, { ...call, headers, body: JSON.stringify(video) }), 200);
  };
  const createSick = (n: number) =>
    Promise.all(
      Array.from({ length: sickAtOnce }, (_, caller) => {
        // The prompts must differ, because the simulator counts refusals by prompt.
        const prompt = `${beside} ${n} ${caller} [sim:${faults[caller % faults.length]}]`;
        return beside === 'a sick model'
          ? create(caller % accounts, { model: 'sick', prompt }, caller)
          : create(accounts, { model: models[0], prompt }, caller);
      }),
    );
  const since = Date.now();
  for (let n = 0; n < count; n += 1) {
    await delay(Math.max(0, since + n * everyMs - Date.now()));
    if (beside !== 'nobody' && n % sickEvery === 0) await createSick(n);
    const model = models[n % models.length] ?? models[0];
    await create(n % accounts, { model, prompt: 'a boat [sim:render=1]' });
  }
  await connections.close();
  return waitsSince(gateway, since, count);
}

interface Submitted {
  readonly createdAt: number;
  readonly attempts: readonly { readonly state: string; readonly startedAt: number }[];
}

async function waitsSince({ db }: BenchGateway, since: number, count: number) {
  const well = { account: { $ne: `account-${accounts}` }, model: { $in: [...models] } };
  let waits: readonly number[] = [];
  const areSubmitted = async () => {
    const found = db.collection<Submitted>('tasks').find({ ...well, createdAt: { $gte: since } });
    waits = (await found.toArray()).flatMap(({ createdAt, attempts }) => {
      const accepted = attempts.find(({ state }) => state === 'accepted');
      return accepted === undefined ? [] : [Number(accepted.startedAt) - Number(createdAt)];
    });
    return waits.length >= count;
  };
  // After the deadline, the remaining tasks count as unsubmitted.
  await waitUntil('the healthy tasks to be submitted', areSubmitted, {
    deadlineMs: submittedWithinMs,
  }).catch(() => undefined);
  const circuits = db.collection<{ openings?: readonly { readonly at: number }[] }>('channel_health');
  const openings = (await circuits.find().toArray()).flatMap(({ openings: all = [] }) => all);
  const sorted = waits.toSorted((a, b) => a - b);
  return {
    'circuits opened': openings.filter(({ at }) => Number(at) >= since).length,
    median: sorted[Math.floor(sorted.length / 2)] ?? 0,
    slowest: sorted.at(-1) ?? 0,
    unsubmitted: count - waits.length,
  };
}
