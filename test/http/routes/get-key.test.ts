import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_key');

it('a key without limits, which has spent nothing, is shown as such', async () => {
  const account = await world.newAccount();
  const { status, body } = await account.call('GET', '/v1/key');
  expect(status).toBe(200);
  const none = { used: '0.000000', limit: null, left: null };
  expect(body).toEqual({
    object: 'key',
    id: expect.stringMatching(/^key_/),
    account: account.id,
    currency: 'USD',
    scopes: ['create', 'read_own', 'read_account', 'manage'],
    duration_max: null,
    resolution_max: null,
    requests_per_minute: null,
    concurrent_tasks: null,
    spent: {
      day: { ...none, resets_at: expect.any(Number) },
      month: { ...none, resets_at: expect.any(Number) },
      total: none,
    },
    models: [],
  });
});
