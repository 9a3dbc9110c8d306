import { loadavg } from 'node:os';

import { getJson, startBenchGateway } from './support/gateway.ts';
import type { GatewayOptions } from './support/gateway.ts';
import { expectStatus, openConnections } from './support/http-connections.ts';
import { startLitellm, startPortkey } from './support/image-peers.ts';
import type { ImagePeer } from './support/image-peers.ts';
import { openImageWrites } from './support/image-writes.ts';
import { middleRun, runLoad } from './support/load.ts';
import type { LoadResult } from './support/load.ts';
import type { BenchOptions } from './support/options.ts';
import { startProfiling } from './support/profile.ts';
import { megabytes, publish, short, times } from './support/report.ts';
import type { Goal, Row } from './support/report.ts';
import { openStand } from './support/stand.ts';
import type { Stand } from './support/stand.ts';
import { measureCpu, usageOf } from './support/usage.ts';

/**
 * POST /v1/images/generations through a bare Koa proxy, this gateway (key, hold, settle), Portkey's gateway and
 * LiteLLM's proxy, before one upstream that answers at once. Latency is told as what each adds to the upstream's own.
 */

const goalTimesLitellm = 8;
const goalTimesPortkey = 1;
const goalAddedMs = 3;
const goalConnections = 32;
const countMax = 200_000;
const model = 'picture';

interface Subject {
  readonly name: string;
  readonly key: 'direct' | 'bare' | 'gateway' | 'earlier' | 'portkey' | 'litellm' | 'ceiling';
  /** Absent: there is no process of its own. */
  readonly process?: string | undefined;
  /** What one caller does; given its connection. */
  open(connections: number): { once: (caller: number) => Promise<void>; close: () => Promise<void> };
}

interface Measured {
  readonly key: Subject['key'];
  readonly name: string;
  readonly run: LoadResult;
  /** CPU milliseconds per call: of the subject's process, and of MongoDB. */
  readonly cpu: Readonly<Record<string, number>>;
  readonly bytes: number;
}

export async function benchImages(options: BenchOptions): Promise<void> {
  const load = loadavg();
  const seconds = options.seconds ?? (options.quick ? 2 : 10);
  const rounds = options.rounds ?? (options.quick ? 1 : 3);
  const connections = options.connections ?? [1, 32];
  const stand = await openStand();
  try {
    const wanted = (key: string): boolean => options.only?.includes(key) ?? true;
    const subjects = await startSubjects(stand, wanted, options);
    const profiling = options.profile ? await startProfiling(stand, ['api']) : undefined;
    const measured: Measured[] = [];
    const warmUps: Measured[] = [];
    // All of them as busy as they get: a process that was just started compiles its code while it is measured.
    const busiest = { concurrency: Math.max(...connections), countMax };
    for (const subject of subjects) {
      warmUps.push(await measure(subject, { ...busiest, seconds: seconds * 1.5 }, stand));
    }
    for (const concurrency of connections) {
      const slice = { concurrency, countMax: options.count ?? countMax };
      for (let round = 0; round < rounds; round += 1) {
        for (const subject of subjects) measured.push(await measure(subject, { ...slice, seconds }, stand));
      }
    }
    const calls = [...warmUps, ...measured].filter(({ key }) => key === 'gateway');
    const profiles = (await profiling?.finish(calls.reduce((sum, { run }) => sum + run.count, 0))) ?? [];
    await publish(
      {
        name: 'images',
        command: options.command,
        setting: { mongodb: stand.mongoKind, rounds, seconds },
        tables: [
          {
            title: 'POST /v1/images/generations',
            rows: connections.flatMap((count) => rowsOf(measured, subjects, count)),
          },
          ...profiles,
        ],
        goals: connections.includes(goalConnections) ? goalsOf(measured) : [],
        raw: measured,
      },
      load,
    );
  } finally {
    await stand.close();
  }
}

async function startSubjects(
  stand: Stand,
  wanted: (key: string) => boolean,
  options: BenchOptions,
): Promise<readonly Subject[]> {
  const upstream = await startListener(
    stand,
    'upstream',
    new URL('support/image-upstream.ts', import.meta.url),
  );
  const subjects: Subject[] = [
    httpSubject('direct', { name: 'the upstream itself', process: 'upstream', origin: upstream }),
  ];
  if (wanted('bare')) {
    const script = new URL('support/bare-proxy.ts', import.meta.url);
    const origin = await startListener(stand, 'bare', script, [upstream]);
    subjects.push(httpSubject('bare', { name: 'bare Koa proxy', process: 'bare', origin }));
  }
  const { profile, checkout } = options;
  const own = { key: 'gateway', name: 'this gateway', process: 'api' } as const;
  if (wanted('gateway')) subjects.push(await gatewaySubject(stand, upstream, { ...own, profile }));
  if (checkout !== undefined) {
    const earlier = {
      key: 'earlier',
      name: 'the gateway of the other checkout',
      process: 'earlier-api',
    } as const;
    const started = { ...earlier, profile: false, checkout, prefix: 'earlier-' };
    subjects.push(await gatewaySubject(stand, upstream, started));
  }
  for (const [key, start] of [
    ['portkey', () => startPortkey(stand, upstream)],
    ['litellm', () => startLitellm(stand, upstream, model)],
  ] as const) {
    const peer = wanted(key) ? await started(start) : undefined;
    if (peer !== undefined) subjects.push(httpSubject(key, peer));
  }
  if (wanted('ceiling')) {
    const writes = await openImageWrites(stand.mongodbUri);
    subjects.push({
      key: 'ceiling',
      name: 'MongoDB alone: the writes of an image request',
      open: () => ({ once: () => writes.once(), close: () => Promise.resolve() }),
    });
  }
  return subjects;
}

/** A peer that cannot be installed here is left out, and says why. */
async function started(start: () => Promise<ImagePeer>): Promise<ImagePeer | undefined> {
  try {
    return await start();
  } catch (error) {
    console.error(`left out: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

async function startListener(
  stand: Stand,
  name: string,
  script: URL,
  args: readonly string[] = [],
): Promise<string> {
  const port = await stand.freePort();
  const origin = `http://127.0.0.1:${port}`;
  await stand.startProgram({
    name,
    script,
    args: [String(port), ...args],
    probe: async () => {
      const http = openConnections(origin, 1);
      try {
        expectStatus(await http.call(0, imageCall({})), 200);
      } finally {
        await http.close();
      }
    },
  });
  return origin;
}

async function gatewaySubject(
  stand: Stand,
  upstream: string,
  { key, name, process, ...options }: Pick<Subject, 'key' | 'name' | 'process'> & GatewayOptions,
): Promise<Subject> {
  const gateway = await startBenchGateway(stand, {
    ...options,
    channels: `  - id: images
    provider: openai
    base_url: ${upstream}/v1
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: mock }]
    models: { ${model}: { upstream: dall-e-3 } }
`,
    models: `  - id: ${model}
    kind: image
    sizes: [1024x1024]
    price: { lines: [{ measure: image, price: "0.04" }] }
`,
  });
  await gateway.close();
  const headers = gateway.keys.map((apiKey) => ({ authorization: `Bearer ${apiKey}` }));
  await getJson(`${gateway.url}/readyz`);
  return {
    key,
    name,
    process,
    open: (connections) => {
      const http = openConnections(gateway.url, connections);
      const calls = headers.map((one) => imageCall(one));
      return {
        once: async (caller) => {
          const call = calls[caller % calls.length] ?? imageCall({});
          expectStatus(await http.call(caller, call), 200);
        },
        close: () => http.close(),
      };
    },
  };
}

function httpSubject(
  key: Subject['key'],
  peer: Pick<ImagePeer, 'name' | 'process' | 'origin'> & Partial<ImagePeer>,
): Subject {
  const call = imageCall(peer.headers ?? {});
  return {
    key,
    name: peer.version === undefined ? peer.name : `${peer.name} (${peer.version})`,
    process: peer.process,
    open: (connections) => {
      const http = openConnections(peer.origin, connections);
      return {
        once: async (caller) => void expectStatus(await http.call(caller, call), 200),
        close: () => http.close(),
      };
    },
  };
}

function imageCall(headers: Readonly<Record<string, string>>) {
  return {
    method: 'POST',
    path: '/v1/images/generations',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model, prompt: 'a boat', n: 1, size: '1024x1024', response_format: 'url' }),
  } as const;
}

async function measure(
  subject: Subject,
  slice: { readonly concurrency: number; readonly seconds: number; readonly countMax: number },
  stand: Stand,
): Promise<Measured> {
  const opened = subject.open(slice.concurrency);
  const cpu = await measureCpu(stand.pids);
  const run = await runLoad({ ...slice, once: opened.once });
  const spent = await cpu.stop();
  await opened.close();
  console.error(
    `${subject.name} at ${slice.concurrency}: ${short(run.rate)}/s, p50 ${short(run.p50)} ms, failed ${run.failed} ${run.firstError ?? ''}`,
  );
  const pid = subject.process === undefined ? undefined : stand.pids[subject.process];
  const each = (name: string | undefined): number => (spent[name ?? ''] ?? 0) / Math.max(1, run.count);
  return {
    key: subject.key,
    name: subject.name,
    run,
    cpu: { server: each(subject.process), mongodb: each('mongodb') },
    bytes: pid === undefined ? 0 : (await usageOf(pid)).bytes,
  };
}

function middleOf(measured: readonly Measured[], key: string, concurrency: number): Measured | undefined {
  const runs = measured.filter((one) => one.key === key && one.run.concurrency === concurrency);
  if (runs.length === 0) return undefined;
  const middle = middleRun(runs.map(({ run }) => run));
  return runs.find(({ run }) => run === middle);
}

function rowsOf(measured: readonly Measured[], subjects: readonly Subject[], concurrency: number): Row[] {
  const direct = middleOf(measured, 'direct', concurrency)?.run.p50 ?? Number.NaN;
  return subjects.flatMap(({ key }) => {
    const middle = middleOf(measured, key, concurrency);
    if (middle === undefined) return [];
    const { run, cpu, bytes, name } = middle;
    const isHop = key !== 'direct' && key !== 'ceiling';
    return [
      {
        connections: concurrency,
        subject: name,
        'requests /s': short(run.rate),
        'p50 ms': short(run.p50),
        'added p50 ms': isHop ? short(run.p50 - direct) : '',
        'p99 ms': short(run.p99),
        count: run.count,
        failed: run.failed,
        memory: bytes === 0 ? '' : megabytes(bytes),
        'CPU ms per call: server': short(cpu['server'] ?? 0),
        mongodb: short(cpu['mongodb'] ?? 0),
      },
    ];
  });
}

function goalsOf(measured: readonly Measured[]): Goal[] {
  const rate = (key: string): number | undefined => middleOf(measured, key, goalConnections)?.run.rate;
  const gateway = rate('gateway');
  if (gateway === undefined) return [];
  const factor = (key: string, title: string, goal: number): Goal[] => {
    const peer = rate(key);
    if (peer === undefined) return [];
    return [
      {
        what: `image requests a second at ${goalConnections} connections, of ${title}'s`,
        goal: `${goal} × or more`,
        measured: times(gateway, peer),
        met: gateway / peer >= goal,
      },
    ];
  };
  return [
    ...factor('litellm', 'LiteLLM', goalTimesLitellm),
    ...factor('portkey', 'Portkey', goalTimesPortkey),
    ...addedGoal(measured),
  ];
}

/** At the smallest load: what a request waits for others is not added by the gateway's work. */
function addedGoal(measured: readonly Measured[]): Goal[] {
  const fewest = Math.min(...measured.map(({ run }) => run.concurrency));
  const gateway = middleOf(measured, 'gateway', fewest);
  const direct = middleOf(measured, 'direct', fewest);
  if (gateway === undefined || direct === undefined) return [];
  const added = gateway.run.p50 - direct.run.p50;
  return [
    {
      what: `added latency p50 at ${fewest} connection(s)`,
      goal: `${goalAddedMs} ms at most`,
      measured: `${short(added)} ms`,
      met: added <= goalAddedMs,
    },
  ];
}
