import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_set_overdraft');

it('holds obey the new limit, up and down, and the record shows who set it and why', async () => {
  const account = await world.newAccount({ credit: '0' });
  expect((await account.create()).body.error.code).toBe('insufficient_balance');
  const set = (overdraft_limit: string) =>
    world.admin('POST', `/accounts/${account.id}/overdraft`, { overdraft_limit, reason: 'pays by invoice' });
  expect((await set('0.6')).body).toMatchObject({
    overdraft_limit: '0.600000',
    changes: [
      {},
      {
        by: 'admin',
        action: 'overdraft 0.000000 → 0.600000',
        reason: 'pays by invoice',
        at: expect.any(Number),
      },
    ],
  });
  world.clock.aheadMs += 5_000;
  expect((await account.create()).status).toBe(200);
  expect((await account.create()).body.error.code).toBe('insufficient_balance');
  await set('2');
  await set('0');
  world.clock.aheadMs += 5_000;
  expect((await account.create()).body.error.code).toBe('insufficient_balance');
});

it('free tasks are created whatever the account owes', async () => {
  world.configure((yaml) => yaml.replaceAll(/price: "[0-9.]+"/g, 'price: "0"'));
  const account = await world.newAccount({ credit: '0' });
  await world.admin('POST', `/accounts/${account.id}/credits`, {
    amount: '-3',
    reference: 'correction',
    note: 'a chargeback',
  });
  const created = await account.create();
  world.configure();
  expect(created.status).toBe(200);
  expect((await account.call('GET', '/v1/balance')).body).toMatchObject({
    available: '-3.000000',
    held: '0.000000',
  });
  expect((await account.create()).body.error.code).toBe('insufficient_balance');
});

it('404, 400', async () => {
  const { id } = await world.newAccount();
  const set = async (account: string, body: object) =>
    (await world.admin('POST', `/accounts/${account}/overdraft`, body)).body.error;
  expect((await set('none', { overdraft_limit: '1', reason: 'x' })).code).toBe('account_not_found');
  expect((await set(id, { overdraft_limit: '-1', reason: 'x' })).param).toBe('overdraft_limit');
  expect((await set(id, { overdraft_limit: '1' })).param).toBe('reason');
});
