import type { TaskDocument } from '../../../src/store/task-document.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

import { simulatorKey } from '../../stand/gateway.ts';
import { askFor } from '../../stand/http.ts';
import { waitUntil } from '../../stand/stand.ts';
import { openCreates, videoModel, type BenchGateway } from './gateway.ts';
import { runLoad } from './load.ts';

/** Creates tasks with render times set in the simulator, and finds out when each finished. */

const spread = 0.2;
const concurrency = 16;
const waitSecondsMax = 3_600;
const sampleMs = 200;

export type Upstream = 'list' | 'alone';
export const upstreams = ['list', 'alone'] as const;

export type Renders = ReadonlyMap<string, number>;

export interface Wave {
  readonly upstream: Upstream;
  readonly count: number;
  readonly middle: number;
}

export async function createTasks(
  gateway: BenchGateway,
  { upstream, count, middle }: Wave,
): Promise<Renders> {
  const creates = openCreates(gateway, concurrency);
  const renders = new Map<string, number>();
  const run = await runLoad({
    concurrency,
    countMax: count,
    seconds: waitSecondsMax,
    once: async (caller) => {
      const seconds = Number((middle * (1 + spread * (2 * Math.random() - 1))).toFixed(1));
      const body = {
        model: upstream,
        prompt: `a boat [sim:render=${seconds}]`,
        duration: 5,
        metadata: { callback_url: gateway.receiverUrl },
      };
      renders.set(await creates.create(caller, JSON.stringify(body)), seconds * 1000);
    },
  });
  await creates.close();
  if (run.failed > 0) throw new Error(`creates failed: ${run.firstError ?? ''}`);
  return renders;
}

export async function untilEnded({ db }: BenchGateway, renders: Renders): Promise<void> {
  const tasks = db.collection<TaskDocument>('tasks');
  const ids = [...renders.keys()];
  await waitUntil(
    'every callback to be delivered',
    async () =>
      (await tasks.countDocuments({ _id: { $in: ids }, 'callback.state': 'delivered' })) === ids.length,
    { deadlineMs: waitSecondsMax * 1000, everyMs: 1_000 },
  );
}

export interface End {
  readonly accepted: number;
  readonly renderMs: number;
  readonly upstreamEnd: number;
  readonly completed: number;
  readonly called: number;
}

export async function endsOf({ db }: BenchGateway, renders: Renders): Promise<readonly End[]> {
  const ids = [...renders.keys()];
  const tasks = await db
    .collection<TaskDocument>('tasks')
    .find({ _id: { $in: ids } })
    .toArray();
  return tasks.map(({ _id, status, completedAt, attempts: [attempt], callback }) => {
    if (status !== 'succeeded') throw new Error(`task ${_id} is ${status}`);
    const renderMs = renders.get(_id) ?? Number.NaN;
    const accepted = Number(attempt?.endedAt);
    const first = callback?.attempts[0];
    return {
      accepted,
      renderMs,
      upstreamEnd: accepted + renderMs,
      completed: Number(completedAt),
      called: Number(first?.at) + Number(first?.durationMs),
    };
  });
}

export function mostAtOnce(ends: readonly End[]): number {
  const changes = ends.flatMap(({ accepted, completed }) => [
    { at: accepted, by: 1 },
    { at: completed, by: -1 },
  ]);
  let inFlight = 0;
  return Math.max(...changes.toSorted((a, b) => a.at - b.at).map(({ by }) => (inFlight += by)));
}

const countsSchema = z.object({ gets: z.number(), lists: z.number() });

export async function sampleRequests({ simulatorUrl }: BenchGateway) {
  const read = async (): Promise<number> => {
    const { gets, lists } = await askFor(countsSchema, `${simulatorUrl}/_control/stats`);
    return gets + lists;
  };
  const before = await read();
  const samples: { readonly at: number; readonly total: number }[] = [];
  let isStopped = false;
  const sampling = (async () => {
    while (!isStopped) {
      samples.push({ at: performance.now(), total: await read() });
      await delay(sampleMs);
    }
  })();
  return {
    async stop() {
      isStopped = true;
      await sampling;
      const requestsPerSecondMax = Math.max(
        0,
        ...samples.map(({ at: since, total }) => {
          const last = samples.findLast((sample) => sample.at <= since + 1_000);
          return (last?.total ?? total) - total;
        }),
      );
      return { requests: (await read()) - before, requestsPerSecondMax };
    },
  };
}

export function channelYaml(upstream: Upstream): string {
  const isList = upstream === 'list';
  return `  - id: ${upstream}
    provider: ${isList ? 'kling' : 'xai'}
    base_url: \${SIMULATOR_URL}/${isList ? 'kling' : 'xai/v1'}
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: ${simulatorKey} }]
    callbacks: false
    limits: { submits_per_second: 1000, polls_per_second: 20 }
    models: { ${upstream}: { upstream: ${isList ? 'kling-3.0-omni' : 'grok-imagine-video'} } }
`;
}

export function modelYaml(upstream: Upstream, expectedSeconds: number): string {
  return videoModel(upstream, expectedSeconds, '{ lines: [{ measure: second, price: "0.10" }] }');
}
