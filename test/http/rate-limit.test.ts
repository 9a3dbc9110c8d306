import { expect, it } from 'vitest';
import { useHttpWorld } from '../support/http-world.ts';

const world = useHttpWorld('http_rate_limit');

it('requests per minute are limited across nodes, and the error says when to retry', async () => {
  const { key } = await world.newAccount({ key: { requests_per_minute: 5 } });
  const node = await world.startNode();
  world.clock.stoppedAt = Date.now();
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      (index % 2 === 0 ? world : node).call('GET', '/v1/balance', { key }),
    ),
  );
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(3);
  expect(refused[0]?.body.error).toMatchObject({ type: 'rate_limit_error', code: 'rate_limit_exceeded' });
  expect(refused[0]?.headers).toMatchObject({
    'x-ratelimit-limit-requests': '5',
    'x-ratelimit-remaining-requests': '0',
    'x-ratelimit-reset-requests': expect.stringMatching(/^\d+s$/),
    'retry-after': expect.stringMatching(/^\d+$/),
  });
  const passed = answers
    .filter(({ status }) => status === 200)
    .map(({ headers }) => headers['x-ratelimit-remaining-requests']);
  expect(new Set(passed)).toEqual(new Set(['0', '1', '2', '3', '4']));
  world.clock.stoppedAt += 60_000;
  expect((await world.call('GET', '/v1/balance', { key })).status).toBe(200);
  world.clock.stoppedAt = undefined;
});

it('of four equal creates at once, the two that were rejected create two more tasks when their client retries', async () => {
  const account = await world.newAccount({ key: { requests_per_minute: 2 } });
  const minute = 60_000;
  world.clock.stoppedAt = Math.ceil(Date.now() / minute) * minute;
  const create = (tried: number) => account.create({}, { 'x-stainless-retry-count': String(tried) });
  const first = await Promise.all([create(0), create(0), create(0), create(0)]);
  const refused = first.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(2);
  const noted = world.db.collection('idempotency');
  await expect.poll(() => noted.countDocuments({ refused: 2 })).toBe(1);
  await expect.poll(() => noted.countDocuments({ made: /^task_/ })).toBe(2);
  world.clock.stoppedAt += minute;
  const again = await Promise.all([create(1), create(1)]);
  const made = [...first, ...again].filter(({ status }) => status === 200).map(({ body }) => body.id);
  expect(new Set(made).size).toBe(4);
  world.clock.stoppedAt = undefined;
});

it('a key without its own limit has the common one, which costs nothing', async () => {
  const node = await world.startNode({
    rateLimits: { count: () => Promise.reject(new Error('asked')) },
    limits: { keyRequestsPerMinute: 3 },
    now: () => 1_000_000,
  });
  const [a, b] = [await world.newAccount(), await world.newAccount()];
  const statuses = async (key: string) => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => node.call('GET', '/v1/models', { key })));
    return answers.map(
      ({ status, headers }) => `${status} ${String(headers['x-ratelimit-remaining-requests'])}`,
    );
  };
  const expected = ['200 0', '200 1', '200 2', '429 0'];
  expect((await statuses(a.key)).toSorted()).toEqual(expected);
  expect((await statuses(b.key)).toSorted()).toEqual(expected);
});

it('a key has a limit of requests in progress, which does not affect other keys', async () => {
  let finish = (): void => {};
  let begun = 0;
  const slow = new Promise<void>((resolve) => (finish = resolve));
  const node = await world.startNode({
    limits: { keyConcurrentRequests: 2 },
    createTask: async ({ request: { model } }) => {
      begun += 1;
      await slow;
      return { id: 'task_1', model, createdAt: 0, warnings: [], hold: 1n, replayed: false };
    },
  });
  const [a, b] = [await world.newAccount(), await world.newAccount()];
  const create = ({ key }: { key: string }) =>
    node.call('POST', '/v1/videos/generations', { key, body: { model: 'clip', prompt: 'a boat' } });
  const creating = [create(a), create(a)];
  await expect.poll(() => begun).toBe(2);
  const refused = await node.call('GET', '/v1/models', { key: a.key });
  expect(refused.status).toBe(429);
  expect(refused.body.error.code).toBe('rate_limit_exceeded');
  expect(refused.headers['retry-after']).toBe('1');
  expect((await node.call('GET', '/v1/models', { key: b.key })).status).toBe(200);
  finish();
  expect((await Promise.all(creating)).map(({ status }) => status)).toEqual([200, 200]);
  expect((await node.call('GET', '/v1/models', { key: a.key })).status).toBe(200);
});

it('without a default limit nothing is counted', async () => {
  const node = await world.startNode({
    rateLimits: { count: () => Promise.reject(new Error('asked')) },
    limits: { keyRequestsPerMinute: 0 },
  });
  const { key } = await world.newAccount();
  const answer = await node.call('GET', '/v1/balance', { key });
  expect(answer.status).toBe(200);
  expect(answer.headers['x-ratelimit-limit-requests']).toBeUndefined();
});
