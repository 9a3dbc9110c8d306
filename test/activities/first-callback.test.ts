import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FirstCallbackDeps } from '../../activities/first-callback.ts';
import { endedTask, openTaskWorld, type TaskWorld } from './task-support.ts';

let world: TaskWorld;
beforeAll(async () => {
  world = await openTaskWorld();
});
afterAll(() => world.close());

const delivery = async (task: string) => (await world.stores.tasks.find(task))?.callback;

function silentReceiver() {
  let answer: (status: number) => void = () => undefined;
  const answered = new Promise<{ status: number }>((resolve) => {
    answer = (status) => resolve({ status });
  });
  const urls: string[] = [];
  let arrive = (): void => undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const post: FirstCallbackDeps['post'] = ({ url }) => {
    urls.push(url);
    arrive();
    return answered;
  };
  return { post, urls, arrived, answer: (status: number) => answer(status) };
}

it('is delivered and recorded as the activity records it, and the activity sends nothing more', async () => {
  const task = await endedTask(world);
  expect(await world.firstCallback({})(task)).toEqual({ state: 'delivered' });
  expect(await delivery(task)).toMatchObject({
    state: 'delivered',
    target: 'https://me.example',
    attempts: [{ status: 200 }],
  });
  const { post, urls } = silentReceiver();
  await world.deliver({ post }, task);
  expect(urls).toEqual([]);
});

it('410 ends the delivery', async () => {
  const task = await endedTask(world);
  const first = await world.firstCallback({ post: async () => ({ status: 410 }) })(task);
  expect(first).toEqual({ state: 'gave_up' });
  expect(await delivery(task)).toMatchObject({ state: 'gave_up', attempts: [{ status: 410 }] });
});

it('after any other response, the activity continues, and its schedule counts this request', async () => {
  const task = await endedTask(world);
  const busy = { post: async () => ({ status: 500 }) };
  const first = await world.firstCallback(busy)(task);
  if (first.state !== 'pending' || first.waitMs === undefined) throw new Error('a time was expected');
  expect(first.waitMs).toBeGreaterThanOrEqual(4_500);
  expect(first.waitMs).toBeLessThanOrEqual(5_500);
  const ms = first.waitMs;
  await expect(world.deliver(busy, task, 'task', { ms })).rejects.toMatchObject({
    type: 'CallbackLater',
    nonRetryable: false,
  });
  // Only Temporal's time counts, even if MongoDB's clock is hours ahead or behind.
  for (const hours of [-2, 2]) {
    const now = () => Date.now() + hours * 3_600_000;
    const early = world.deliver({ ...busy, now }, task, 'task', { ms, elapsedMs: 1_000 });
    await expect(early).rejects.toMatchObject({ type: 'CallbackLater', nextRetryDelay: ms - 1_000 });
  }
  expect((await delivery(task))?.attempts).toHaveLength(1);
  const second: unknown = await world
    .deliver(busy, task, 'task', { ms, elapsedMs: ms })
    .catch((error: unknown) => error);
  expect(second).toMatchObject({ type: 'CallbackFailed' });
  expect((await delivery(task))?.attempts).toHaveLength(2);
  // The second pause of the schedule is five minutes, plus or minus ten percent.
  expect(Number((second as { nextRetryDelay?: number }).nextRetryDelay)).toBeGreaterThanOrEqual(270_000);
});

it('nothing waits for a slow receiver, which is neither cut off nor called twice', async () => {
  const task = await endedTask(world);
  const slow = silentReceiver();
  const firstCallback = world.firstCallback({ post: slow.post, sleep: () => slow.arrived });
  const first = await firstCallback(task);
  if (first.state !== 'pending' || first.waitMs === undefined) throw new Error('a time was expected');
  // A request may take 10 s to connect, and another 10 s to get a response.
  expect(first.waitMs).toBeGreaterThan(20_000);
  const other = await endedTask(world);
  expect(await firstCallback(other)).toEqual({ state: 'pending' });
  expect(slow.urls).toHaveLength(1);
  slow.answer(204);
  await expect.poll(() => delivery(task)).toMatchObject({ state: 'delivered', attempts: [{ status: 204 }] });
  const wait = { ms: first.waitMs, elapsedMs: 30_000 };
  await world.deliver({ post: slow.post }, task, 'task', wait);
  expect(slow.urls).toHaveLength(1);
});

it('a host that is busy or has just failed is left to the activity at once', async () => {
  const [first, second] = [await endedTask(world), await endedTask(world)];
  const none = { take: () => Promise.reject(new Error('nobody waits')), takeFree: () => undefined };
  expect(await world.firstCallback({ places: none })(first)).toEqual({ state: 'pending' });
  const failing = world.firstCallback({ post: async () => ({ status: 503 }) });
  expect(await failing(first)).toMatchObject({ state: 'pending', waitMs: expect.any(Number) });
  expect(await failing(second)).toEqual({ state: 'pending' });
  expect(await delivery(second)).toBeUndefined();
});

it('an unreachable database before the request costs no attempt and leaves the callback to the activity', async () => {
  const task = await endedTask(world);
  const find = () => Promise.reject(new Error('away'));
  const requests = { ...world.stores.requests, find };
  expect(await world.firstCallback({ requests })(task)).toEqual({ state: 'pending' });
  expect(await delivery(task)).toBeUndefined();
});

it('sends nothing if the caller gave no address', async () => {
  const { task } = await world.newTask();
  expect(await world.firstCallback({})(task)).toEqual({ state: 'delivered' });
  expect(await delivery(task)).toBeUndefined();
});
