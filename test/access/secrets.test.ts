import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSecrets, openSecrets } from '../../src/access/secrets.ts';
import { createRootKeyStore } from '../../src/store/root-key.ts';
import { openDatabase } from '../capacity/support.ts';

const [a, b] = [randomBytes(32), randomBytes(32)];
let database: Awaited<ReturnType<typeof openDatabase>>;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.drop());

const open = (...keys: Buffer[]) => openSecrets(keys, createRootKeyStore(database.db));
const stored = () => database.db.collection('secrets');

describe('a derived secret', () => {
  it('differs by purpose, and is the same each time', () => {
    const secrets = createSecrets([a], b);
    expect(secrets.deriveKey('api-key-hmac')).not.toEqual(secrets.deriveKey('payload-codec'));
    expect(secrets.deriveKey('api-key-hmac')).toEqual(createSecrets([b], b).deriveKey('api-key-hmac'));
    expect(() => createSecrets([a], randomBytes(16))).toThrow(RangeError);
  });

  it('is the same for all processes that start at once, and does not depend on the order of SECRETS_KEY', async () => {
    const opened = await Promise.all(Array.from({ length: 8 }, () => open(a)));
    const derived = new Set(opened.map((secrets) => secrets.deriveKey('api-key-hmac').toString('hex')));
    expect(derived.size).toBe(1);
    const rotated = await open(b, a);
    expect([...derived]).toEqual([rotated.deriveKey('api-key-hmac').toString('hex')]);
    expect(await stored().countDocuments()).toBe(1);
  });

  it('cannot be derived from SECRETS_KEY alone, or with a key that the database does not know', async () => {
    const before = (await open(a)).deriveKey('media-link');
    await expect(open(b)).rejects.toThrow(/needs the key [0-9a-f]{8}, and SECRETS_KEY contains [0-9a-f]{8}$/);
    await stored().deleteMany({});
    expect((await open(a)).deriveKey('media-link')).not.toEqual(before);
  });
});
