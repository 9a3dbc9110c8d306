import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { defaultScopes } from '../../src/base/key-scope.ts';
import { createKeyAuth } from '../../src/access/api-keys.ts';
import type { ApiKey } from '../../src/store/keys.ts';

function world() {
  const clock = { now: 1_000_000 };
  const stored = new Map<string, ApiKey>();
  const used: string[] = [];
  const auth = createKeyAuth({
    keys: { findByHmac: async (hmac) => stored.get(hmac) },
    lastUsed: { note: (id) => used.push(id) },
    secret: Buffer.from('secret'),
    now: () => clock.now,
    randomBytes,
  });
  const issue = (facts: Partial<ApiKey> = {}) => {
    const { token, hmac, prefix } = auth.newKey();
    const key: ApiKey = {
      hmac,
      prefix,
      id: 'key_1',
      account: 'studio',
      name: 'ci',
      scopes: defaultScopes,
      createdAt: 1,
      ...facts,
    };
    stored.set(hmac, key);
    return `Bearer ${token}`;
  };
  return { auth, issue, stored, used, clock };
}

it('a key identifies its account and has no limits except those that were set', async () => {
  const { auth, issue, used } = world();
  expect(await auth.authenticate(issue())).toEqual({
    account: 'studio',
    key: 'key_1',
    scopes: defaultScopes,
  });
  expect(used).toEqual(['key_1']);
});

it('a key carries its limits', async () => {
  const { auth, issue } = world();
  const limits = {
    scopes: ['create', 'manage'] as const,
    addresses: ['203.0.113.0/24'],
    routes: ['createVideo'],
    secondsMax: 5,
    resolutionMax: '720p',
    models: ['clip'],
    channels: ['one'],
    assetUrls: true,
    requestsPerMinute: 6,
    concurrentTasks: 2,
  };
  expect(await auth.authenticate(issue(limits))).toEqual({ account: 'studio', key: 'key_1', ...limits });
});

it('an empty list of models permits none, unlike a missing list', async () => {
  const { auth, issue } = world();
  expect(await auth.authenticate(issue({ models: [] }))).toMatchObject({ models: [] });
});

it('a key that replaced another one shares the limits of the first, and is recorded under its own id', async () => {
  const { auth, issue, used } = world();
  expect(await auth.authenticate(issue({ id: 'key_3', countedAs: 'key_1' }))).toMatchObject({ key: 'key_1' });
  expect(used).toEqual(['key_3']);
});

it('a key expires on time, even while it is cached', async () => {
  const { auth, issue, used, clock } = world();
  const header = issue({ expiresAt: clock.now + 1_000 });
  clock.now += 999;
  expect(await auth.authenticate(header)).toBeDefined();
  clock.now += 1;
  expect(await auth.authenticate(header)).toBeUndefined();
  expect(used).toHaveLength(1);
});

it('a revoked key authenticates nobody, and its use is not recorded', async () => {
  const { auth, issue, used } = world();
  expect(await auth.authenticate(issue({ revokedAt: 1 }))).toBeUndefined();
  expect(used).toEqual([]);
});

it('a change takes effect at once in the process that removed the key from its cache', async () => {
  const { auth, issue, stored } = world();
  const header = issue();
  await auth.authenticate(header);
  for (const [hmac, key] of stored) stored.set(hmac, { ...key, revokedAt: 2 });
  expect(await auth.authenticate(header)).toBeDefined();
  auth.forget('key_2');
  expect(await auth.authenticate(header)).toBeDefined();
  auth.forget('key_1');
  expect(await auth.authenticate(header)).toBeUndefined();
});
