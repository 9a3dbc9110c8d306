import { expect, it } from 'vitest';
import { adminCaller, type AdminCall } from '../../support/client.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_invite_operator');

async function operator(name: string, roles: readonly string[]): Promise<AdminCall> {
  const { body } = await world.admin('POST', '/operators', { name, roles });
  return adminCaller(world.url, body.token);
}

it('answers a link that is stored nowhere, and lists the operator as invited', async () => {
  const invited = await world.admin('POST', '/operators/invitations', { name: 'anna', roles: ['support'] });
  expect(invited.body).toMatchObject({
    name: 'anna',
    roles: ['read', 'tasks', 'content'],
    state: 'invited',
    prefix: '',
    link: expect.stringMatching(/^console#\/invitation\/iv-[0-9A-Za-z]{43}[0-9a-f]{8}$/),
  });
  const { link, link_expires_at: end } = invited.body;
  const days = (end - Date.now() / 1000) / 86_400;
  expect([Math.round(days), invited.body.invitation_expires_at]).toEqual([3, end]);
  const secret = link.split('/').at(-1).slice(8);
  const listed = await world.admin('GET', '/operators');
  expect(listed.body.data.find(({ name }: { name: string }) => name === 'anna')).toMatchObject({
    state: 'invited',
  });
  const stored = JSON.stringify([
    await world.stores.operators.list(),
    await world.stores.audit.list({}, { limit: 50 }),
  ]);
  for (const text of [stored, listed.text, world.logLines.join('')]) expect(text).not.toContain(secret);
  expect(stored).toContain('inviteOperator');
});

it('grants only roles that the inviting operator has', async () => {
  const access = await operator('giver', ['access']);
  for (const [roles, status] of [
    [[], 200],
    [['access'], 200],
    [['money'], 403],
    [['everything'], 403],
  ] as const) {
    const { status: answered, body } = await access('POST', '/operators/invitations', {
      name: 'friend',
      roles,
    });
    expect([roles, answered]).toEqual([roles, status]);
    if (status === 403) expect(body.error).toMatchObject({ code: 'operator_not_allowed', param: 'roles' });
  }
});

it('replaces an unused invitation, but no operator who has a token', async () => {
  const ask = () => world.admin('POST', '/operators/invitations', { name: 'ben' });
  const [first, second] = [await ask(), await ask()];
  const use = ({ body }: typeof first) =>
    world.call('POST', '/invitations/operators/accept', {
      body: { link: body.link.split('/').at(-1) },
    });
  expect([(await use(first)).status, (await use(second)).status, (await ask()).status]).toEqual([
    404, 200, 409,
  ]);
  const admin = await world.admin('POST', '/operators/invitations', { name: 'admin' });
  expect([admin.status, admin.body.error.code]).toEqual([409, 'operator_exists']);
});

it.each([
  [{ name: 'Anna' }, 'name'],
  [{ name: 'x', roles: ['admin'] }, 'roles[0]'],
  [{ name: 'x', valid_seconds: 59 }, 'valid_seconds'],
  [{ name: 'x', valid_seconds: 2_592_001 }, 'valid_seconds'],
])('400: %j', async (body, param) => {
  const answer = await world.admin('POST', '/operators/invitations', body);
  expect([answer.status, answer.body.error.param]).toEqual([400, param]);
});
