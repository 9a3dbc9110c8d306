import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_account');

it('shows the balance, and what unfinished tasks hold', async () => {
  const account = await world.newAccount({ credit: '2' });
  await account.create();
  const { status, body } = await world.admin('GET', `/accounts/${account.id}`);
  expect([status, body]).toEqual([
    200,
    expect.objectContaining({
      object: 'account',
      id: account.id,
      overdraft_limit: '0.000000',
      available: '1.500000',
      held: '0.500000',
    }),
  ]);
  expect(body).not.toHaveProperty('webhook_secret');
});

it('404', async () => {
  const answer = await world.admin('GET', '/accounts/none');
  expect([answer.status, answer.body.error.code]).toEqual([404, 'account_not_found']);
});
