import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_withdraw_invitation');

it('withdraws an unused invitation once, and never a token', async () => {
  await world.admin('POST', '/operators/invitations', { name: 'anna' });
  await world.admin('POST', '/operators', { name: 'ben' });
  const withdraw = (name: string) => world.admin('DELETE', `/operators/invitations/${name}?reason=wrong`);
  expect((await withdraw('anna')).body).toEqual({ object: 'operator', name: 'anna', revoked: true });
  for (const name of ['anna', 'ben', 'nobody']) {
    const { status, body } = await withdraw(name);
    expect([name, status, body.error.code]).toEqual([name, 404, 'invitation_not_found']);
  }
  const { body } = await world.admin('GET', '/operators');
  expect(body.data).toMatchObject([
    { name: 'anna', state: 'revoked', revoked_by: 'admin' },
    { name: 'ben', state: 'active' },
  ]);
});
