import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_create_account');

it('creates it with a webhook secret that is shown once', async () => {
  const made = await world.admin('POST', '/accounts', {
    id: 'studio',
    name: 'A studio',
    overdraft_limit: '5',
  });
  expect(made.status).toBe(200);
  expect(made.body).toEqual({
    object: 'account',
    id: 'studio',
    name: 'A studio',
    overdraft_limit: '5.000000',
    available: '0.000000',
    held: '0.000000',
    deletion: null,
    end_user_caps: null,
    price_factors: null,
    created_at: expect.any(Number),
    closed_at: null,
    changes: [{ at: expect.any(Number), by: 'admin', action: 'created', reason: '' }],
    webhook_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/),
  });
  const shown = await world.admin('GET', '/accounts/studio');
  const { webhook_secret, ...rest } = made.body;
  expect(shown.body).toEqual(rest);
  const [stored] = (await world.stores.accounts.find('studio'))?.webhookSecrets ?? [];
  expect(Buffer.from(stored?.data ?? []).toString('latin1')).not.toContain(webhook_secret.slice(6));
  expect(stored && world.deps.secrets.open({ purpose: 'webhook-secret', id: 'studio' }, stored)).toBe(
    webhook_secret,
  );
});

it('generates an id if none is given', async () => {
  const { body } = await world.admin('POST', '/accounts', {});
  expect(body.id).toMatch(/^acct_[0-9A-Za-z]{16}$/);
});

it('409: the id is taken', async () => {
  await world.admin('POST', '/accounts', { id: 'twice' });
  const answer = await world.admin('POST', '/accounts', { id: 'twice' });
  expect([answer.status, answer.body.error]).toEqual([
    409,
    expect.objectContaining({ code: 'account_exists', param: 'id' }),
  ]);
});

it.each([
  [{ id: 'with/slash' }, 'id'],
  [{ id: 'with:colon' }, 'id'],
  [{ id: '' }, 'id'],
  [{ id: 'x'.repeat(65) }, 'id'],
  [{ id: 5 }, 'id'],
  [{ name: 5 }, 'name'],
  [{ overdraft_limit: 5 }, 'overdraft_limit'],
  [{ overdraft_limit: '-5' }, 'overdraft_limit'],
  [{ overdraft_limit: '0.0000001' }, 'overdraft_limit'],
])('400: %j', async (body, param) => {
  const answer = await world.admin('POST', '/accounts', body);
  expect([answer.status, answer.body.error]).toEqual([
    400,
    expect.objectContaining({ code: 'invalid_parameter', param }),
  ]);
});
