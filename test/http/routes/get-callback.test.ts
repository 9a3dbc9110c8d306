import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_callback');

const metadata = { callback_url: 'https://shop.example/hook?secret=1' };

it('shows whether a callback is wanted, and that none was sent yet', async () => {
  const account = await world.newAccount();
  for (const [is_wanted, asked] of [[false, {}] as const, [true, { metadata }] as const]) {
    const { id } = (await account.create(asked)).body;
    const { status, body } = await account.call('GET', `/v1/callbacks/${id}`);
    expect([status, body]).toEqual([200, { object: 'callback', task_id: id, is_wanted, delivery: null }]);
  }
});

it('lists each attempt with its response, and of the address only its host', async () => {
  const account = await world.newAccount();
  const { id } = (await account.create({ metadata })).body;
  const round = { task: id, round: 'task', target: 'https://shop.example' };
  await world.stores.tasks.beginCallback(round);
  await world.stores.tasks.recordCallback(
    round,
    { at: 1_800_000_000_000, durationMs: 7, status: 500 },
    'pending',
  );
  const answer = await account.call('GET', `/v1/callbacks/${id}`);
  expect(answer.body.delivery).toEqual({
    state: 'pending',
    target: 'https://shop.example',
    attempts: [{ at: 1_800_000_000, duration_ms: 7, status: 500, error: null }],
  });
  expect(answer.text).not.toContain('secret');
});

it('404: unknown, and another account’s', async () => {
  const [account, stranger] = await Promise.all([world.newAccount(), world.newAccount()]);
  const { id } = (await account.create({ metadata })).body;
  for (const task of ['x', 'task_0000000000000000000000', id]) {
    const answer = await stranger.call('GET', `/v1/callbacks/${task}`);
    expect([answer.status, answer.body.error.code]).toEqual([404, 'task_not_found']);
  }
});
