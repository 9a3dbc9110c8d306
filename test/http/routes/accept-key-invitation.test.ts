import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_accept_key_invitation');

async function invite(more: object = {}) {
  const { id: account } = await world.newAccount();
  const made = await world.admin('POST', '/keys', {
    account,
    name: 'owner',
    scopes: ['create', 'read_account', 'manage'],
    models: ['clip'],
    link_valid_seconds: 3600,
    ...more,
  });
  expect(made.status).toBe(200);
  return { account, made: made.body, link: made.body.link.split('/').at(-1) };
}

function accept(link: string, more: object = {}, headers: Record<string, string> = {}) {
  return world.call('POST', '/invitations/keys/accept', { body: { link, ...more }, headers });
}

it('gives the owner a key that nobody else has seen, once', async () => {
  const { account, made, link } = await invite();
  expect(made).toMatchObject({ prefix: '', link: expect.stringMatching(/^account#\/invitation\/iv-/) });
  expect(made.key).toBeUndefined();
  expect(made.link_expires_at).toBeGreaterThan(Date.now() / 1000);
  const what = {
    id: made.id,
    account,
    name: 'owner',
    scopes: ['create', 'read_account', 'manage'],
    models: ['clip'],
  };
  expect((await accept(link, { dry_run: true })).body).toEqual({ object: 'key', ...what });
  const both = await Promise.all([accept(link), accept(link)]);
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404]);
  const body = both.find(({ status }) => status === 200)?.body;
  expect(body).toMatchObject({ ...what, key: expect.stringMatching(/^sk-/) });
  const own = await world.call('GET', '/v1/key', { key: body.key });
  expect(own.body).toMatchObject({ id: made.id, account });
  const listed = await world.admin('GET', `/keys?account=${account}`);
  const row = listed.body.data.find(({ id }: { id: string }) => id === made.id);
  expect(row).toMatchObject({ prefix: body.key.slice(0, 8), link_expires_at: null });
  const stored = JSON.stringify([await world.stores.keys.find(made.id), world.logLines]);
  for (const secret of [link, body.key]) expect(stored).not.toContain(secret.slice(8));
});

it('returns the same response to a repeat with the same Idempotency-Key', async () => {
  const { link } = await invite();
  const first = await accept(link, {}, { 'idempotency-key': 'lost' });
  const again = await accept(link, {}, { 'idempotency-key': 'lost' });
  expect([again.status, again.body.key]).toEqual([200, first.body.key]);
  expect((await accept(link, {}, { 'idempotency-key': 'other' })).status).toBe(404);
  world.clock.aheadMs = 601_000;
  expect((await accept(link, {}, { 'idempotency-key': 'lost' })).status).toBe(404);
  world.clock.aheadMs = 0;
});

it('gives no key for a closed account, and records where a key was received from', async () => {
  const { account, made, link } = await invite();
  await world.admin('POST', `/accounts/${account}/close`, { reason: 'left' });
  const refused = await accept(link);
  expect([refused.status, refused.body.error.code]).toEqual([403, 'account_closed']);
  await world.admin('POST', `/accounts/${account}/reopen`, { reason: 'is back' });
  expect((await accept(link)).status).toBe(200);
  const key = await world.stores.keys.find(made.id);
  expect(key?.changes?.at(-1)).toMatchObject({
    by: 'its owner',
    action: expect.stringMatching(/^received through the link, from \S+$/),
  });
});

it('gives nothing if the key was revoked or the time is over', async () => {
  const [revoked, late] = [await invite(), await invite({ link_valid_seconds: 60 })];
  await world.admin('DELETE', `/keys/${revoked.made.id}`);
  world.clock.aheadMs = 61_000;
  for (const { link } of [revoked, late]) {
    const { status, body } = await accept(link);
    expect([status, body.error.code]).toEqual([404, 'invitation_not_found']);
  }
  world.clock.aheadMs = 0;
});

it('does not accept the link of an operator', async () => {
  const { body } = await world.admin('POST', '/operators/invitations', { name: 'anna' });
  expect((await accept(body.link.split('/').at(-1))).status).toBe(404);
});
