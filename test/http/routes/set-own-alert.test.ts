import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_set_own_alert');

it("the owner of a key sets the alert of the key's account, and no other's", async () => {
  const [one, other] = [await world.newAccount(), await world.newAccount()];
  const body = { threshold: '10', caps: true, url: 'https://acme.example/hooks', account: other.id };
  const made = await one.call('POST', '/v1/alert', { body });
  expect([made.status, made.body.account, made.body.caps]).toEqual([200, one.id, true]);
  expect((await other.call('GET', '/v1/alert')).body.threshold).toBeNull();
});

it('400', async () => {
  const { call } = await world.newAccount();
  const body = { threshold: '1', url: 'https://forbidden.example/' };
  expect((await call('POST', '/v1/alert', { body })).body.error.code).toBe('callback_url_not_allowed');
});
