import { expect, it } from 'vitest';
import { adminCaller } from '../../support/client.ts';
import { useHttpWorld, type Server } from '../../support/http-world.ts';

const world = useHttpWorld('route_accept_operator_invitation');
const path = '/invitations/operators/accept';

async function invite(name: string, more: object = {}): Promise<string> {
  const { body } = await world.admin('POST', '/operators/invitations', { name, ...more });
  return body.link.split('/').at(-1);
}

interface How {
  readonly at?: Server;
  readonly key?: string;
  readonly dry?: true;
}

function accept(link: string, { at = world, key, dry }: How = {}) {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  return at.call('POST', path, { body: { link, dry_run: dry }, headers });
}

it('first shows what it is for, then shows the token once, which is stored as an HMAC', async () => {
  const link = await invite('anna', { roles: ['billing'] });
  const shown = await accept(link, { dry: true });
  expect(shown.body).toMatchObject({ name: 'anna', roles: ['read', 'amounts', 'money'], state: 'invited' });
  expect(shown.body.token).toBeUndefined();
  const { status, body } = await accept(link);
  expect([status, body.state, body.invitation_expires_at]).toEqual([200, 'active', null]);
  expect(body.token).toMatch(/^op-[0-9A-Za-z]{43}[0-9a-f]{8}$/);
  expect(body.prefix).toBe(body.token.slice(0, 8));
  const overview = await adminCaller(world.url, body.token)('GET', '/overview');
  expect(overview.body.operator).toMatchObject({ name: 'anna', roles: ['read', 'amounts', 'money'] });
  const kept = [await world.stores.operators.list(), await world.stores.audit.list({}, { limit: 50 })];
  for (const text of [JSON.stringify(kept), world.logLines.join('')]) {
    expect(text).not.toContain(body.token.slice(8));
    expect(text).not.toContain(link.slice(8));
  }
  const { entries } = await world.stores.audit.list({ by: 'anna' }, { limit: 5 });
  expect(entries).toMatchObject([{ action: 'acceptOperatorInvitation', target: 'anna', outcome: 'done' }]);
});

it('can be used once: if several requests use it at once, on several nodes, one gets a token', async () => {
  const link = await invite('ben');
  const other = await world.startNode();
  const all = await Promise.all([world, other, world, other].map((at) => accept(link, { at })));
  expect(all.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404, 404, 404]);
  const winner = all.find(({ status }) => status === 200);
  expect((await adminCaller(world.url, winner?.body.token)('GET', '/keys')).status).toBe(200);
  const again = await accept(link);
  expect([again.status, again.body.error.code, again.body.error.param]).toEqual([
    404,
    'invitation_not_found',
    'link',
  ]);
  expect((await accept(link, { dry: true })).status).toBe(404);
  const { entries } = await world.stores.audit.list({ by: 'ben' }, { limit: 50 });
  const accepted = entries.filter(({ action }) => action === 'acceptOperatorInvitation');
  // Requests that lost the race may leave entries too. A link that has already been used leaves none.
  expect(accepted.length).toBeLessThanOrEqual(4);
  await accept(link);
  const after = await world.stores.audit.list({ by: 'ben' }, { limit: 50 });
  expect(after.entries).toHaveLength(entries.length);
});

it('returns the same response to a repeat with the same Idempotency-Key, on any node, but with no other key', async () => {
  const link = await invite('carla');
  const other = await world.startNode();
  const [one, two] = await Promise.all([
    accept(link, { key: 'mine' }),
    accept(link, { at: other, key: 'mine' }),
  ]);
  expect([one.status, two.status, two.body.token]).toEqual([200, 200, one.body.token]);
  expect((await accept(link, { key: 'another' })).status).toBe(404);
});

it('gives nothing if it has expired or was withdrawn', async () => {
  const [late, withdrawn] = [await invite('dora', { valid_seconds: 60 }), await invite('emil')];
  await world.admin('DELETE', '/operators/invitations/emil');
  world.clock.aheadMs = 61_000;
  for (const link of [late, withdrawn]) {
    expect((await accept(link, { dry: true })).status).toBe(404);
    expect((await accept(link)).status).toBe(404);
  }
  world.clock.aheadMs = 0;
});

it.each(['x', `iv-${'A'.repeat(43)}00000000`, ''])(
  'rejects a link that was never issued: %s',
  async (link) => {
    expect((await accept(link)).status).toBe(link === '' ? 400 : 404);
  },
);
