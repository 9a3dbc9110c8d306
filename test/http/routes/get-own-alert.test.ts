import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_own_alert');

it('the owner of a key sees the alert that an operator has set', async () => {
  const { id, call } = await world.newAccount();
  const body = { threshold: '4', url: 'https://acme.example/x', reason: 'asked for it' };
  await world.admin('POST', `/accounts/${id}/alert`, body);
  expect((await call('GET', '/v1/alert')).body).toEqual({
    object: 'account_alert',
    account: id,
    threshold: '4.000000',
    caps: false,
    url: 'https://acme.example/x',
    is_below: false,
    undelivered: 0,
  });
});
