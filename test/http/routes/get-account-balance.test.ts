import { afterEach, expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_account_balance');
afterEach(() => (world.clock.stoppedAt = undefined));

it('at any time, including the entries up to that time', async () => {
  const start = 1_790_000_000;
  world.clock.stoppedAt = start * 1000;
  const account = await world.newAccount({ credit: '10' });
  const { id } = account;
  world.clock.stoppedAt = (start + 60) * 1000;
  await account.create();
  const at = async (time: string) => (await world.admin('GET', `/accounts/${id}/balance${time}`)).body;
  expect(await at(`?at=${start}`)).toMatchObject({ at: start, available: '0.000000', seq: 0 });
  expect(await at(`?at=${start + 1}`)).toMatchObject({ available: '10.000000', held: '0.000000', seq: 1 });
  expect(await at(`?at=${start + 60}`)).toMatchObject({ available: '10.000000', seq: 1 });
  expect(await at(`?at=${start + 61}`)).toMatchObject({ available: '9.500000', held: '0.500000', seq: 2 });
  expect(await at('')).toEqual({
    object: 'account.balance',
    account: id,
    currency: 'USD',
    at: start + 60,
    available: '9.500000',
    held: '0.500000',
    seq: 2,
  });
});

it.each(['', 'x', '-1', '1.5'])('400: at "%s"', async (at) => {
  const { id } = await world.newAccount();
  const answer = await world.admin('GET', `/accounts/${id}/balance?at=${at}`);
  expect([answer.status, answer.body.error.param]).toEqual([400, 'at']);
});

it('404', async () => {
  const answer = await world.admin('GET', '/accounts/none/balance');
  expect([answer.status, answer.body.error.code]).toEqual([404, 'account_not_found']);
});
