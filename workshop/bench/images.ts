import type { Stand } from '../stand/stand.ts';
import { startImageUpstream } from '../stand/gateway.ts';
import { startBenchGateway } from './support/gateway.ts';
import { startLitellm, startPortkey, type ImagePeer } from './support/image-peers.ts';
import type { BenchOptions } from './support/options.ts';
import { megabytes, short, times, type Goal, type Report, type Row } from './support/report.ts';
import { httpSubject, measureInTurns, middleOf, roundsOf, rowsOf } from './support/rounds.ts';
import type { Measured, Subject } from './support/rounds.ts';

/**
 * Measures the latency that gateways add to POST /v1/images/generations: this gateway (key, hold, settle), Portkey's
 * gateway and LiteLLM's proxy. All of them use the same upstream, which responds immediately.
 */

const goalAddedMs = 3;
const goalConnections = 32;
const goalTimes = [
  { name: 'litellm', title: 'LiteLLM', goal: 8 },
  { name: 'portkey', title: 'Portkey', goal: 1 },
] as const;
const usual = { rounds: 3, connections: [1, goalConnections], countMax: 200_000 };
const model = 'picture';

export async function benchImages(options: BenchOptions, stand: Stand): Promise<Report> {
  const rounds = roundsOf(options, usual);
  const subjects = await startSubjects(stand, options);
  const measured = await measureInTurns(stand, rounds, { subjects });
  return {
    setting: { rounds: rounds.rounds, seconds: rounds.seconds },
    tables: rounds.connections.flatMap((count) => [
      {
        title: `POST /v1/images/generations, ${count} connection(s)`,
        rows: rowsOf(measured, count, 'direct'),
      },
      { title: 'Added latency and memory', rows: addedRows(measured, count) },
    ]),
    goals: [...goalTimes.flatMap((peer) => timesGoal(measured, peer)), ...addedGoal(measured)],
    raw: measured,
  };
}

async function startSubjects(stand: Stand, { only, profile }: BenchOptions): Promise<readonly Subject[]> {
  const wants = (name: string): boolean => only?.includes(name) ?? true;
  const upstream = await startImageUpstream(stand, 'upstream');
  const subjects = [
    subjectOf('direct', { name: 'the upstream itself', process: 'upstream', origin: upstream, headers: {} }),
  ];
  if (wants('gateway')) subjects.push(await gatewaySubject(stand, upstream, profile));
  const peers = {
    portkey: () => startPortkey(stand, upstream),
    litellm: () => startLitellm(stand, upstream, model),
  };
  for (const [name, start] of Object.entries(peers)) {
    const peer = wants(name) ? await started(start) : undefined;
    if (peer !== undefined) subjects.push(subjectOf(name, peer));
  }
  return subjects;
}

async function started(start: () => Promise<ImagePeer>): Promise<ImagePeer | undefined> {
  try {
    return await start();
  } catch (error) {
    console.error(`left out: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

async function gatewaySubject(stand: Stand, upstream: string, profile: boolean): Promise<Subject> {
  const gateway = await startBenchGateway(stand, {
    profile,
    accounts: 1,
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
  const headers = { authorization: `Bearer ${gateway.keys[0]}` };
  return subjectOf('gateway', { name: 'this gateway', process: 'api', origin: gateway.url, headers });
}

function subjectOf(name: string, peer: Omit<ImagePeer, 'version'> & Partial<ImagePeer>): Subject {
  const call = {
    method: 'POST',
    path: '/v1/images/generations',
    headers: { 'content-type': 'application/json', ...peer.headers },
    body: JSON.stringify({ model, prompt: 'a boat', n: 1, size: '1024x1024', response_format: 'url' }),
  } as const;
  return httpSubject({
    name,
    title: peer.version === undefined ? peer.name : `${peer.name} (${peer.version})`,
    process: peer.process,
    origin: peer.origin,
    calls: [call],
  });
}

function addedRows(measured: readonly Measured[], concurrency: number): Row[] {
  const direct = middleOf(measured, 'direct', concurrency)?.run.p50 ?? Number.NaN;
  return [...new Set(measured.map(({ name }) => name))]
    .flatMap((name) => middleOf(measured, name, concurrency) ?? [])
    .map(({ title, run, bytes }) => ({
      subject: title,
      'added p50 ms': short(run.p50 - direct),
      memory: megabytes(bytes),
    }));
}

function timesGoal(measured: readonly Measured[], { name, title, goal }: (typeof goalTimes)[number]): Goal[] {
  const gateway = middleOf(measured, 'gateway', goalConnections)?.run.rate;
  const peer = middleOf(measured, name, goalConnections)?.run.rate;
  if (gateway === undefined || peer === undefined) return [];
  return [
    {
      what: `image requests per second at ${goalConnections} connections, relative to ${title}`,
      goal: `${goal} × or more`,
      measured: times(gateway, peer),
      met: gateway / peer >= goal,
    },
  ];
}

/** Only the lowest load counts. At a higher load, a request also waits for other requests. */
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
