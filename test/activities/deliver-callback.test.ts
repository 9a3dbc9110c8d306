import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTaskWorld } from './task-support.ts';
import type { TaskWorld } from './task-support.ts';

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
