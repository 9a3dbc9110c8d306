import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';

import type { Stand } from '../stand/stand.ts';
import { startBenchGateway, type BenchGateway } from './support/gateway.ts';
import { channelYaml, createTasks, endsOf, modelYaml, mostAtOnce } from './support/news-waves.ts';
import { sampleRequests, untilEnded, upstreams } from './support/news-waves.ts';
import type { Upstream, Wave } from './support/news-waves.ts';
import type { BenchOptions } from './support/options.ts';
import { short, type Goal, type Report, type Row } from './support/report.ts';

/**
 * Measures how soon callers learn that a render has ended, and how many upstream requests that takes, with many tasks
 * in flight. One upstream can list jobs, the other cannot. Also measures the recovery from an outage. Render times are
 * spread evenly within ±20% of a middle value, and the gateway has already seen some renders of that kind.
 */

const middleRenderSeconds = 40;
const learnedTasks = 30;
const learningMs = 20_000;

interface Waited {
  readonly upstream: Upstream;
  readonly tasks: number;
  readonly inFlightMax: number;
  /**
   * Times from the end of the upstream's job to the projection, and to the callback's response. In milliseconds,
   * sorted.
   */
  readonly projection: readonly number[];
  readonly callback: readonly number[];
  readonly shares: readonly number[];
  readonly requests: number;
  readonly requestsPerSecondMax: number;
}

export async function benchNews(options: BenchOptions, stand: Stand): Promise<Report> {
  const count = options.count ?? (options.quick ? 40 : 1_000);
  const middle = options.seconds ?? (options.quick ? 10 : middleRenderSeconds);
  const parts = options.only ?? [...upstreams, 'outage'];
  const gateway = await startBenchGateway(stand, {
    profile: false,
    channels: upstreams.map(channelYaml).join(''),
    models: upstreams.map((upstream) => modelYaml(upstream, middle)).join(''),
  });
  const waited: Waited[] = [];
  for (const upstream of upstreams.filter((name) => parts.includes(name))) {
    waited.push(await measureWait(gateway, { upstream, count, middle }));
  }
  const outageMs = parts.includes('outage')
    ? await measureOutage(gateway, { count: Math.min(count, 200), seconds: options.quick ? 20 : 120 })
    : undefined;
  await gateway.close();
  return {
    setting: { tasks: count, 'middle render s': middle },
    tables: [{ title: 'Time from the end of a render until callers learn of it', rows: waited.map(rowOf) }],
    goals: [...waited.flatMap(goalsOf), ...outageGoals(outageMs)],
    raw: { waited, outageMs },
  };
}

async function measureWait(gateway: BenchGateway, wave: Wave): Promise<Waited> {
  const { upstream, middle, count } = wave;
  const learned = await createTasks(gateway, { ...wave, count: learnedTasks });
  await untilEnded(gateway, learned);
  await delay(learningMs);
  const sampler = await sampleRequests(gateway);
  const renders = await createTasks(gateway, { upstream, middle, count });
  await untilEnded(gateway, renders);
  const sampled = await sampler.stop();
  const ends = await endsOf(gateway, renders);
  const lags = ends.map(({ upstreamEnd, completed }) => completed - upstreamEnd);
  const waited = {
    upstream,
    tasks: renders.size,
    inFlightMax: mostAtOnce(ends),
    projection: sorted(lags),
    callback: sorted(ends.map(({ upstreamEnd, called }) => called - upstreamEnd)),
    shares: sorted(ends.map(({ upstreamEnd, completed, renderMs }) => (completed - upstreamEnd) / renderMs)),
    ...sampled,
  };
  console.error(
    `${upstream}: p50 ${short(at(waited.projection, 0.5))} ms, p95 ${short(at(waited.projection, 0.95))} ms`,
  );
  return waited;
}

async function measureOutage(
  gateway: BenchGateway,
  { count, seconds }: { readonly count: number; readonly seconds: number },
): Promise<number> {
  const control = `${gateway.simulatorUrl}/_control/faults`;
  const renders = await createTasks(gateway, { upstream: 'list', count, middle: 5 });
  const body = JSON.stringify({ match: {}, fault: 'poll:500' });
  await request(control, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  await delay(seconds * 1000);
  await request(control, { method: 'DELETE' });
  const back = Date.now();
  await untilEnded(gateway, renders);
  const ends = await endsOf(gateway, renders);
  console.error(`outage: ${ends.filter(({ completed }) => completed > back).length} tasks ended after it`);
  return Math.max(...ends.map(({ completed }) => completed)) - back;
}

function sorted(values: readonly number[]): readonly number[] {
  return values.toSorted((a, b) => a - b);
}

function at(values: readonly number[], share: number): number {
  return values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;
}

function rowOf({ upstream, tasks, inFlightMax, projection, callback, shares, ...sampled }: Waited): Row {
  const { requests, requestsPerSecondMax } = sampled;
  return {
    upstream: upstream === 'list' ? 'lists jobs' : 'without a list',
    tasks,
    'most tasks in flight': inFlightMax,
    'lag to projection p50 ms': short(at(projection, 0.5)),
    'p95 ms': short(at(projection, 0.95)),
    'to callback p50 ms': short(at(callback, 0.5)),
    'callback p95 ms': short(at(callback, 0.95)),
    'share of the render p50': `${(100 * at(shares, 0.5)).toFixed(1)} %`,
    'requests per task': short(requests / tasks),
    'most requests in a second': requestsPerSecondMax,
  };
}

function goalsOf({ upstream, tasks, projection, callback, shares, requests, ...rest }: Waited): Goal[] {
  const upTo = (what: string, most: number, value: number, unit = ''): Goal => ({
    what,
    goal: `${most}${unit} or less`,
    measured: `${short(value)}${unit}`,
    met: value <= most,
  });
  if (upstream === 'alone') {
    return [
      upTo('without a list: lag p50, share of the render', 8, 100 * at(shares, 0.5), ' %'),
      upTo('without a list: requests per task', 12, requests / tasks),
    ];
  }
  return [
    upTo('lag to the projection, median', 1_500, at(projection, 0.5), ' ms'),
    upTo('lag to the projection, p95', 3_000, at(projection, 0.95), ' ms'),
    upTo('lag to the callback, median', 1_500, at(callback, 0.5), ' ms'),
    upTo('lag to the callback, p95', 3_000, at(callback, 0.95), ' ms'),
    upTo('requests per second and credential', 2, rest.requestsPerSecondMax),
  ];
}

function outageGoals(outageMs: number | undefined): Goal[] {
  if (outageMs === undefined) return [];
  return [
    {
      what: 'recovery to the last job known',
      goal: '10 s or less',
      measured: `${short(outageMs)} ms`,
      met: outageMs <= 10_000,
    },
  ];
}
