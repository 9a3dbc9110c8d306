import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTaskWorld } from './task-support.ts';
import type { TaskWorld } from './task-support.ts';
import { createHostPlaces } from '../../src/capacity/host-places.ts';

let world: TaskWorld;
beforeAll(async () => {
  world = await openTaskWorld();
});
afterAll(() => world.close());

async function endedTask(): Promise<string> {
  const input = await world.newTask();
  const { task, account, key, basis, hold: held } = input;
  await world.stores.requests.insert({
    task,
    account,
    request: { kind: 'video' } as never,
    callbackToken: randomBytes(8).toString('hex'),
    callbackUrl: 'https://me.example/hook?secret=1',
    createdAt: Date.now(),
  });
  await world.tasks().claimTask(input, '1');
  const outcome = { kind: 'failed', error: { code: 'task_cancelled', message: 'x' } } as const;
  await world.run(() => world.tasks().finishTask({ task, account, key, basis, held, version: '2', outcome }));
  return task;
}

const attempts = async (task: string) => (await world.stores.deliveries.find(task))?.attempts.length;
const stateOf = async (task: string) => (await world.stores.deliveries.find(task))?.state;

it('a database that is away before the request uses up no attempt', async () => {
  const task = await endedTask();
  const find = () => Promise.reject(new Error('away'));
  for (let n = 0; n < 12; n += 1) {
    await expect(world.deliver({ requests: { ...world.stores.requests, find } }, task)).rejects.toThrow(
      'away',
    );
  }
  await world.deliver({}, task);
  expect([await stateOf(task), await attempts(task)]).toEqual(['delivered', 1]);
});

it('ten requests without a 2xx are the end, and the record says so', async () => {
  const task = await endedTask();
  const post = async () => ({ status: 500 });
  const delays: unknown[] = [];
  for (let n = 1; n <= 10; n += 1) {
    const error: unknown = await world.deliver({ post }, task).catch((failure: unknown) => failure);
    delays.push(error);
  }
  expect(delays.slice(0, 9)).toMatchObject(Array.from({ length: 9 }, () => ({ nonRetryable: false })));
  expect(delays[9]).toMatchObject({ nonRetryable: true });
  expect([await stateOf(task), await attempts(task)]).toEqual(['gave_up', 10]);
});

it('a last request whose process died is the end too', async () => {
  const task = await endedTask();
  for (let n = 0; n < 10; n += 1) await world.stores.deliveries.begin(task, 'task', 'https://me.example');
  await expect(world.deliver({}, task)).rejects.toMatchObject({ nonRetryable: true });
  expect(await stateOf(task)).toBe('gave_up');
});

it('what was delivered is not sent again in its round, but is on demand', async () => {
  const task = await endedTask();
  let posts = 0;
  const post = async () => {
    posts += 1;
    return { status: 200 };
  };
  await world.deliver({ post }, task);
  await world.deliver({ post }, task);
  expect(posts).toBe(1);
  await world.deliver({ post }, task, 'on-demand-1');
  await world.deliver({ post }, task, 'on-demand-1');
  expect([posts, await stateOf(task)]).toEqual([2, 'delivered']);
});

it('410 stops at once', async () => {
  const task = await endedTask();
  await expect(world.deliver({ post: async () => ({ status: 410 }) }, task)).rejects.toMatchObject({
    nonRetryable: true,
  });
  expect(await stateOf(task)).toBe('gave_up');
});

it.each([
  { what: 'a host that never answers', hostOf: () => 'dead.example', inFlightMax: 16 },
  {
    what: 'as many hosts of one account that never answer',
    hostOf: (task: string) => `${task.split('-')[1]}.dead.example`,
    inFlightMax: 30,
  },
])('2,000 due callbacks to $what leave room for another account', async ({ hostOf, inFlightMax }) => {
  const [dead, live] = await Promise.all([endedTask(), endedTask()]);
  const template = await world.stores.tasks.find(dead);
  const stored = await world.stores.requests.find(dead);
  if (template === undefined || stored === undefined) throw new Error('the task is on record');
  const due = [...Array.from({ length: 2_000 }, (_, n) => `${dead}-${n}`), live];
  const posted: string[] = [];
  let hangUp: () => void = () => undefined;
  const hungUp = new Promise<never>((_, reject) => {
    hangUp = () => reject(Object.assign(new Error('no answer'), { code: 'timeout' }));
  });
  hungUp.catch(() => undefined);
  const findTask = async (task: string) => ({
    ...template,
    id: task,
    account: task === live ? 'another' : template.account,
  });
  const deps = {
    tasks: { ...world.stores.tasks, find: findTask },
    requests: {
      ...world.stores.requests,
      find: async (task: string) => ({
        ...stored,
        callbackUrl: `https://${task === live ? 'live.example' : hostOf(task)}/hook`,
      }),
    },
    places: createHostPlaces({
      requestsPerHostMax: 16,
      requestsPerAccountMax: 30,
      waitingPerHostMax: 14,
      waitMs: 50,
      now: Date.now,
      random: Math.random,
    }),
    post: ({ url }: { readonly url: string }) => {
      posted.push(new URL(url).hostname);
      return url.includes('live') ? Promise.resolve({ status: 200 }) : hungUp;
    },
  };
  const outcomes = new Map<string, unknown>();
  const run = async (task: string) => outcomes.set(task, await world.deliver(deps, task).catch(asIs));
  // As the worker does: the oldest first, as many at a time as it has slots.
  const slots = Array.from({ length: 100 }, async () => {
    for (let task = due.shift(); task !== undefined; task = due.shift()) await run(task);
  });
  const settled = () => [outcomes.size, posted.length];
  await expect.poll(settled, { timeout: 60_000 }).toEqual([2_001 - inFlightMax, inFlightMax + 1]);

  // No request to a dead host has ended, and the live host has its callback.
  expect(posted.filter((host) => host === 'live.example')).toHaveLength(1);
  expect(await stateOf(live)).toBe('delivered');
  const sentAway = [...outcomes].filter(([task]) => task !== live);
  for (const [, outcome] of sentAway) {
    expect(outcome).toMatchObject({ type: 'CallbackHostBusy', nonRetryable: false });
  }
  expect(await Promise.all(sentAway.slice(0, 50).map(([task]) => attempts(task)))).toEqual(
    Array.from({ length: 50 }, () => undefined),
  );

  hangUp();
  await Promise.all(slots);
  const attempted = [...outcomes].slice(-inFlightMax);
  expect(await Promise.all(attempted.map(([task]) => attempts(task)))).toEqual(
    Array.from({ length: inFlightMax }, () => 1),
  );
});

const asIs = (error: unknown): unknown => error;

it('what the caller answered is on record, although the database was away for a moment', async () => {
  const task = await endedTask();
  const { deliveries } = world.stores;
  let failures = 1;
  const record: typeof deliveries.record = (...call) =>
    (failures -= 1) >= 0 ? Promise.reject(new Error('away')) : deliveries.record(...call);
  await world.deliver({ deliveries: { ...deliveries, record } }, task);
  expect([await stateOf(task), await attempts(task)]).toEqual(['delivered', 1]);
});
