import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccountStore } from '../../src/store/accounts.ts';
import { createKeyStore } from '../../src/store/keys.ts';
import type { ApiKey } from '../../src/store/keys.ts';
import { openDatabase } from '../capacity/support.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
let clock = 100;
beforeAll(async () => {
  database = await openDatabase();
  await keys().ensureIndexes();
});
afterAll(() => database.drop());

const accounts = () => createAccountStore(database.db);
const keys = () => createKeyStore(database.db, () => clock);
const account = { id: 'studio', name: 'A', overdraftLimit: 5n, webhookSecrets: ['one'], createdAt: 1 };
const key = (n: number, change: Partial<ApiKey> = {}): ApiKey => ({
  hmac: `hmac${n}`,
  id: `key_${n}`,
  account: 'studio',
  name: 'ci',
  prefix: 'sk-abc',
  createdAt: n,
  ...change,
});

const change = { at: 1, by: 'ada', action: 'changed', reason: 'due' };

describe('an account', () => {
  it('is made by one of several simultaneous callers, whose account stays as it is', async () => {
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, n) => accounts().insert({ ...account, name: `by${n}` })),
    );
    expect(made.filter((isNew) => isNew)).toHaveLength(1);
    expect(await accounts().find('studio')).toEqual({ ...account, name: `by${made.indexOf(true)}` });
  });

  it('has its two newest webhook secrets, also when several are added at once', async () => {
    await accounts().insert({ ...account, id: 'rotated' });
    expect(await accounts().addWebhookSecret('rotated', 'two', change)).toBe(true);
    expect((await accounts().find('rotated'))?.webhookSecrets).toEqual(['two', 'one']);
    await Promise.all(
      ['three', 'four'].map((secret) => accounts().addWebhookSecret('rotated', secret, change)),
    );
    const secrets = (await accounts().find('rotated'))?.webhookSecrets ?? [];
    expect(secrets.toSorted()).toEqual(['four', 'three']);
    expect(await accounts().addWebhookSecret('unknown', 'x', change)).toBe(false);
    expect(await accounts().find('unknown')).toBeUndefined();
  });
});

describe('a key', () => {
  it('has an id of its own: another key cannot have it', async () => {
    await keys().insert(key(1));
    await expect(keys().insert(key(2, { id: 'key_1' }))).rejects.toThrow(/duplicate/i);
    expect(await keys().findByHmac('hmac2')).toBeUndefined();
  });

  it('is revoked once: the first time counts', async () => {
    await keys().insert(key(3));
    clock = 200;
    expect(await keys().revoke('key_3', 'ada', 'lost')).toBe(true);
    clock = 300;
    expect(await keys().revoke('key_3', 'ada', 'lost')).toBe(true);
    expect(await keys().findByHmac('hmac3')).toMatchObject({ revokedAt: 200 });
    expect(await keys().revoke('key_unknown', 'ada', 'lost')).toBe(false);
  });

  it('reads as it was written, with all its limits and with none', async () => {
    const limited = key(4, {
      models: ['clip'],
      channels: ['one'],
      assetUrls: true,
      requestsPerMinute: 6,
      concurrentTasks: 2,
      expiresAt: 9,
    });
    await keys().insert(limited);
    await keys().insert(key(5));
    expect(await keys().findByHmac('hmac4')).toEqual(limited);
    expect(await keys().find('key_5')).toEqual(key(5));
  });

  it('is listed newest first, those of the account only', async () => {
    for (const n of [11, 13, 12]) await keys().insert(key(n, { account: 'listed' }));
    const listed = await keys().list({ account: 'listed' }, { limit: 2 });
    expect(listed.map(({ id }) => id)).toEqual(['key_13', 'key_12']);
  });
});
