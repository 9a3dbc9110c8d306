import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_account_alert');

it('an operator sees the alert of an account, and whether there is one', async () => {
  const { id, call } = await world.newAccount();
  const show = () => world.admin('GET', `/accounts/${id}/alert`);
  expect((await show()).body).toMatchObject({ account: id, threshold: null, url: null });
  await call('POST', '/v1/alert', { body: { threshold: '3', url: 'https://acme.example/x' } });
  expect((await show()).body).toMatchObject({ threshold: '3.000000', is_below: false, undelivered: 0 });
});

it('404', async () => {
  expect((await world.admin('GET', '/accounts/none/alert')).body.error.code).toBe('account_not_found');
});
