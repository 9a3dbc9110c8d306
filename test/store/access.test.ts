import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccountStore } from '../../src/store/accounts.ts';
import { createKeyStore, type ApiKey } from '../../src/store/keys.ts';
import { openDatabase } from '../capacity/support.ts';
import { testEndUsers } from '../support/sealing.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
let clock = 100;
beforeAll(async () => {
  database = await openDatabase();
  await keys().ensureIndexes();
});
afterAll(() => database.drop());

const accounts = () => createAccountStore(database.db, testEndUsers);
const keys = () => createKeyStore(database.db, () => clock);
const sealed = (text: string) => ({ keyId: 'k', data: Buffer.from(text) });
const account = {
  id: 'studio',
  name: 'A',
  overdraftLimit: 5n,
  webhookSecrets: [sealed('one')],
  createdAt: 1,
};
const key = (n: number, change: Partial<ApiKey> = {}): ApiKey => ({
  hmac: `hmac${n}`,
  id: `key_${n}`,
  account: 'studio',
  name: 'ci',
  scopes: ['create'],
  prefix: 'sk-abc',
  createdAt: n,
  ...change,
});

const change = { at: 1, by: 'ada', action: 'changed', reason: 'due' };

describe('an account', () => {
  it('is created by one of several simultaneous callers, and then stays unchanged', async () => {
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, n) => accounts().insert({ ...account, name: `by${n}` })),
    );
    expect(made.filter((isNew) => isNew)).toHaveLength(1);
    expect(await accounts().find('studio')).toEqual({ ...account, name: `by${made.indexOf(true)}` });
  });

  it('has its three newest webhook secrets, even if several are added at once', async () => {
    await accounts().insert({ ...account, id: 'rotated' });
    expect(await accounts().addWebhookSecret('rotated', sealed('two'), change)).toBe(true);
    expect((await accounts().find('rotated'))?.webhookSecrets).toEqual([sealed('two'), sealed('one')]);
    await accounts().addWebhookSecret('rotated', sealed('of a lost answer'), change);
    expect((await accounts().find('rotated'))?.webhookSecrets).toHaveLength(3);
    await accounts().addWebhookSecret('rotated', sealed('two again'), change);
    await Promise.all(
      ['three', 'four'].map((secret) => accounts().addWebhookSecret('rotated', sealed(secret), change)),
    );
    const secrets = (await accounts().find('rotated'))?.webhookSecrets ?? [];
    expect(secrets.map(({ data }) => Buffer.from(data).toString()).toSorted()).toEqual([
      'four',
      'three',
      'two again',
    ]);
    expect(await accounts().addWebhookSecret('unknown', sealed('x'), change)).toBe(false);
    expect(await accounts().find('unknown')).toBeUndefined();
  });

  it('is closed once and reopened once, and each change is recorded', async () => {
    await accounts().insert({ ...account, id: 'closing' });
    const step = (action: string, at: number) => ({ at, by: 'ada', action, reason: 'due' });
    expect(await accounts().reopen('closing', step('reopened', 1))).toBe(false);
    const closed = await Promise.all([2, 3].map((at) => accounts().close('closing', step('closed', at))));
    expect(closed.filter((isDone) => isDone)).toHaveLength(1);
    expect((await accounts().find('closing'))?.closedAt).toBe(closed[0] === true ? 2 : 3);
    const reopened = await Promise.all(
      [4, 5].map((at) => accounts().reopen('closing', step('reopened', at))),
    );
    expect(reopened.filter((isDone) => isDone)).toHaveLength(1);
    const found = await accounts().find('closing');
    expect(found).not.toHaveProperty('closedAt');
    expect(found?.changes?.map(({ action }) => action)).toEqual(['closed', 'reopened']);
    expect(await accounts().close('unknown', step('closed', 6))).toBe(false);
  });

  it('has an overdraft that is changed with a reason, exact beyond what a float holds', async () => {
    await accounts().insert({ ...account, id: 'trusted' });
    const limit = 9_007_199_254_740_993n;
    expect(await accounts().setOverdraftLimit('trusted', limit, change)).toBe(true);
    expect(await accounts().find('trusted')).toMatchObject({ overdraftLimit: limit, changes: [change] });
    expect(await accounts().setOverdraftLimit('unknown', 1n, change)).toBe(false);
  });

  it('keeps its newest fifty changes', async () => {
    await accounts().insert({ ...account, id: 'busy' });
    for (let at = 1; at <= 52; at += 1)
      await accounts().setOverdraftLimit('busy', BigInt(at), { ...change, at });
    const kept = (await accounts().find('busy'))?.changes?.map(({ at }) => at) ?? [];
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([50, 3, 52]);
  });

  it('is listed by its id, page by page', async () => {
    for (const id of ['page-b', 'page-a', 'page-c']) await accounts().insert({ ...account, id });
    const first = await accounts().list({ limit: 2, after: 'page-' });
    expect(first.map(({ id }) => id)).toEqual(['page-a', 'page-b']);
    const [next] = await accounts().list({ limit: 2, after: 'page-b' });
    expect(next?.id).toBe('page-c');
  });
});

describe('a key', () => {
  it('is replaced by one other key only, and not once it is revoked', async () => {
    await keys().insert(key(20));
    const by = (n: number) => ({ by: `key_${n}`, endsAt: 500 + n, change });
    const replaced = await Promise.all([21, 22].map((n) => keys().replace('key_20', by(n))));
    expect(replaced.filter((isDone) => isDone)).toHaveLength(1);
    const winner = replaced[0] === true ? 21 : 22;
    expect(await keys().find('key_20')).toMatchObject({
      replacedBy: `key_${winner}`,
      expiresAt: 500 + winner,
    });
    await keys().insert(key(23));
    await keys().revoke('key_23', 'ada', 'lost');
    expect(await keys().replace('key_23', by(24))).toBe(false);
    expect(await keys().find('key_23')).not.toHaveProperty('replacedBy');
  });

  it('that was replaced can still be revoked', async () => {
    await keys().insert(key(25));
    await keys().replace('key_25', { by: 'key_26', endsAt: 9_999, change });
    expect(await keys().revoke('key_25', 'ada', 'lost')).toBe(true);
    expect((await keys().find('key_25'))?.revokedAt).toBeDefined();
  });

  it('has the latest of its last uses, in whatever order the processes write', async () => {
    await keys().insert(key(27));
    const uses = new Map([
      ['key_unknown', 800],
      ['key_27', 700],
    ]);
    await keys().noteUsed(uses);
    await keys().noteUsed(new Map([['key_27', 600]]));
    expect((await keys().find('key_27'))?.lastUsedAt).toBe(700);
    expect(await keys().find('key_unknown')).toBeUndefined();
  });

  it('that was never delivered is removed', async () => {
    await keys().insert(key(28));
    await keys().remove('key_28');
    await keys().remove('key_28');
    expect(await keys().findByHmac('hmac28')).toBeUndefined();
  });

  it('has an id of its own: another key cannot have it', async () => {
    await keys().insert(key(1));
    await expect(keys().insert(key(2, { id: 'key_1' }))).rejects.toThrow(/duplicate/i);
    expect(await keys().findByHmac('hmac2')).toBeUndefined();
  });

  it('is revoked once, and keeps the first time', async () => {
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
