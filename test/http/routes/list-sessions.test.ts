import { expect, it } from 'vitest';
import { adminCaller } from '../../support/client.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_list_sessions');

it('lists an operator’s own, and everybody’s to those with the access role', async () => {
  const opened: Record<string, string> = {};
  for (const [name, roles] of [
    ['anna', ['money']],
    ['ben', ['access']],
  ] as const) {
    const { body } = await world.admin('POST', '/operators', { name, roles });
    const session = await world.call('POST', '/admin/v1/sessions', {
      key: body.token,
      headers: { 'user-agent': `browser of ${name}` },
    });
    opened[name] = session.body.token;
  }
  const listed = async (name: string) =>
    (await adminCaller(world.url, opened[name] ?? '')('GET', '/sessions')).body.data;
  expect(await listed('anna')).toMatchObject([
    { operator: 'anna', current: true, browser: 'browser of anna', last_used_at: null },
  ]);
  expect((await listed('ben')).map((each: { operator: string }) => each.operator)).toEqual(['ben', 'anna']);
  await world.noteUses();
  const [own] = await listed('anna');
  expect(own.last_used_at).toBeGreaterThanOrEqual(own.created_at);
  expect(own.address).toMatch(/127\.0\.0\.1/);
});
