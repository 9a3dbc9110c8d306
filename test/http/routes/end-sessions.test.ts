import { expect, it } from 'vitest';
import { adminCaller } from '../../support/client.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_end_sessions');

it('ends all of one operator or of everyone, except the requesting one', async () => {
  const { body: anna } = await world.admin('POST', '/operators', { name: 'anna', roles: ['read'] });
  const { body: ben } = await world.admin('POST', '/operators', { name: 'ben', roles: ['access'] });
  const open = async (token: string) =>
    adminCaller(world.url, (await adminCaller(world.url, token)('POST', '/sessions')).body.token);
  const [first, second, third] = [await open(anna.token), await open(anna.token), await open(ben.token)];
  const states = async () => {
    const answers = await Promise.all([first, second, third].map((call) => call('GET', '/keys')));
    return answers.map(({ status }) => status);
  };
  for (const query of ['?operator=*', '?operator=ben'])
    expect((await first('DELETE', `/sessions${query}`)).body.error.code).toBe('operator_not_allowed');
  expect((await first('DELETE', '/sessions?operator=anna')).body).toEqual({
    object: 'operator_sessions',
    ended: 1,
  });
  expect(await states()).toEqual([200, 401, 200]);
  expect((await third('DELETE', '/sessions?operator=*&reason=leak')).body.ended).toBe(1);
  expect(await states()).toEqual([401, 401, 200]);
  const { entries } = await world.stores.audit.list({ by: 'ben' }, { limit: 1 });
  expect(entries).toMatchObject([{ action: 'endSessions', reason: 'leak', outcome: 'done' }]);
});
