import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_redeliver_callback');

const metadata = { callback_url: 'https://shop.example/hook' };
const path = (task: string) => `/v1/callbacks/${task}/redeliver`;

it('redelivers the callback of a task that has ended, and writes nothing into its record', async () => {
  const account = await world.newAccount();
  const { id } = (await account.create({ metadata })).body;
  await world.port.cancel(id);
  const { status, body } = await account.call('POST', path(id));
  expect([status, body]).toEqual([200, { object: 'callback', task_id: id, is_wanted: true, delivery: null }]);
  expect(world.port.redelivered).toEqual([id]);
  // Callers may redeliver any number of times. Recording each redelivery would displace the operators' actions.
  expect((await world.admin('GET', `/tasks/${id}`)).body.actions).toEqual([]);
});

it('409: the task is unfinished, or has no callback address', async () => {
  const account = await world.newAccount();
  const [wanted, unwanted] = [await account.create({ metadata }), await account.create()];
  const unfinished = await account.call('POST', path(wanted.body.id));
  expect([unfinished.status, unfinished.body.error.code]).toEqual([409, 'action_not_possible']);
  await world.port.cancel(unwanted.body.id);
  const without = await account.call('POST', path(unwanted.body.id));
  expect([without.status, without.body.error.message]).toEqual([409, 'The task has no callback URL.']);
});

it('409: the request with the callback address has been deleted, and operators are not offered the act', async () => {
  const account = await world.newAccount();
  const { id } = (await account.create({ metadata })).body;
  await world.port.cancel(id);
  const offered = async (): Promise<string[]> => {
    const { situation } = (await world.admin('GET', `/tasks/${id}`)).body;
    return situation.actions.map(({ name }: { name: string }) => name);
  };
  expect(await offered()).toContain('redeliver');
  const { deadlineAt = 0 } = (await world.stores.tasks.find(id)) ?? {};
  world.clock.stoppedAt = world.stores.requests.expiresAt(deadlineAt);
  try {
    expect(await offered()).not.toContain('redeliver');
    const { status, body } = await account.call('POST', path(id));
    expect([status, body.error.code]).toEqual([409, 'action_not_possible']);
    expect(body.error.message).toContain('has been deleted');
  } finally {
    world.clock.stoppedAt = undefined;
  }
});

it('404: unknown, and another account’s', async () => {
  const [account, stranger] = await Promise.all([world.newAccount(), world.newAccount()]);
  const { id } = (await account.create({ metadata })).body;
  await world.port.cancel(id);
  const before = world.port.redelivered.length;
  for (const task of ['x', 'task_0000000000000000000000', id]) {
    const answer = await stranger.call('POST', path(task));
    expect([answer.status, answer.body.error.code]).toEqual([404, 'task_not_found']);
  }
  expect(world.port.redelivered).toHaveLength(before);
});
