import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_own_balance_alert');

it('the owner of a key sees the alert that an operator has set', async () => {
  const { id, call } = await world.newAccount();
  const body = { threshold: '4', url: 'https://acme.example/x', reason: 'asked for it' };
  await world.admin('POST', `/accounts/${id}/balance-alert`, body);
  expect((await call('GET', '/v1/balance/alert')).body).toEqual({
    object: 'balance_alert',
    account: id,
    threshold: '4.000000',
    url: 'https://acme.example/x',
    is_below: false,
    undelivered: 0,
  });
});
