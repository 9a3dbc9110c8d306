import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createKeyAuth } from '../../src/access/api-keys.ts';
import type { ApiKey } from '../../src/store/keys.ts';
import { adminToken, useHttpWorld } from '../support/http-world.ts';

const world = useHttpWorld('http_authentication');

const unauthorized = {
  message: 'The API key is missing or not valid. Send it as "Authorization: Bearer <key>".',
  type: 'authentication_error',
  param: '',
  code: 'invalid_api_key',
};

it('a key is sk-, 43 characters and a checksum', async () => {
  const { key } = await world.newAccount();
  expect(key).toMatch(/^sk-[0-9A-Za-z]{43}[0-9a-f]{8}$/);
});

it.each<[string, (key: string) => string | undefined]>([
  ['none', () => undefined],
  ['empty', () => ''],
  ['only a scheme', () => 'Bearer'],
  ['a scheme and a blank', () => 'Bearer '],
  ['no scheme', (key) => key],
  ['Basic', (key) => `Basic ${key}`],
  ['Basic with base64', (key) => `Basic ${Buffer.from(`${key}:`).toString('base64')}`],
  ['Token', (key) => `Token ${key}`],
  ['a glued scheme', (key) => `Bearer${key}`],
  ['a colon', (key) => `Bearer: ${key}`],
  ['two keys', (key) => `Bearer ${key} ${key}`],
  ['a list', (key) => `Bearer ${key}, Bearer ${key}`],
  ['quotes', (key) => `Bearer "${key}"`],
  ['a tab', (key) => `Bearer\t${key}`],
  ['a key cut short', (key) => `Bearer ${key.slice(0, -1)}`],
  ['a key with more', (key) => `Bearer ${key}0`],
  ['another case', (key) => `Bearer ${key.toUpperCase()}`],
  ['a typo', (key) => `Bearer ${key.slice(0, 10)}${key[10] === 'a' ? 'b' : 'a'}${key.slice(11)}`],
  ['a wrong checksum', (key) => `Bearer ${key.slice(0, -8)}00000000`],
  ['no prefix', (key) => `Bearer ${key.slice(3)}`],
  ['another prefix', (key) => `Bearer pk-${key.slice(3)}`],
  ['a very long one', () => `Bearer sk-${'a'.repeat(8_000)}`],
  ['characters outside ASCII', (key) => `Bearer ${key}\u00e9`],
  ['an object id', () => 'Bearer {"$ne":1}'],
  ['the operators’ token', () => `Bearer ${adminToken}`],
  ['an unknown key', () => `Bearer ${unknownKey()}`],
])('401, the same in all cases: %s', async (_, header) => {
  const { key } = await world.newAccount();
  const authorization = header(key);
  const answer = await world.call('GET', '/v1/balance', {
    headers: authorization === undefined ? {} : { authorization },
  });
  expect(answer.status).toBe(401);
  expect(answer.body).toEqual({ error: unauthorized });
  expect(answer.headers['www-authenticate']).toBe('Bearer');
});

it('a key in x-api-key is not read, and the 401 says so', async () => {
  const { key } = await world.newAccount();
  for (const secret of [key, 'sk-wrong']) {
    const answer = await world.call('GET', '/v1/balance', { headers: { 'x-api-key': secret } });
    const message = 'The header x-api-key is ignored. Send the API key as "Authorization: Bearer <key>".';
    expect([answer.status, answer.body]).toEqual([401, { error: { ...unauthorized, message } }]);
  }
});

it.each(['Bearer', 'bearer', 'BEARER', 'Bearer  '])(
  'accepts the scheme in any case with any number of spaces: %j',
  async (scheme) => {
    const { key } = await world.newAccount();
    const answer = await world.call('GET', '/v1/balance', { headers: { authorization: `${scheme} ${key}` } });
    expect(answer.status).toBe(200);
  },
);

it('a key outside the header is ignored', async () => {
  const { key } = await world.newAccount();
  const answer = await world.call('GET', `/v1/balance?api_key=${key}&key=${key}`, {
    headers: { 'x-api-key': key },
  });
  expect(answer.status).toBe(401);
});

it('an expired key is rejected in the same words', async () => {
  const { call } = await world.newAccount({ key: { expires_at: Math.floor(Date.now() / 1000) + 60 } });
  expect((await call('GET', '/v1/balance')).status).toBe(200);
  world.clock.aheadMs = 61_000;
  const answer = await call('GET', '/v1/balance');
  world.clock.aheadMs = 0;
  expect([answer.status, answer.body]).toEqual([401, { error: unauthorized }]);
});

it('a revoked key is rejected at once here, and within 5 s on another node', async () => {
  const { key, keyId } = await world.newAccount();
  const other = await world.startNode();
  expect((await other.call('GET', '/v1/balance', { key })).status).toBe(200);
  expect((await world.admin('DELETE', `/keys/${keyId}`)).status).toBe(200);
  expect((await world.call('GET', '/v1/balance', { key })).body).toEqual({ error: unauthorized });
  world.clock.aheadMs = 5_000;
  const answer = await other.call('GET', '/v1/balance', { key });
  world.clock.aheadMs = 0;
  expect([answer.status, answer.body]).toEqual([401, { error: unauthorized }]);
});

it('the key is stored nowhere', async () => {
  const { key, id } = await world.newAccount();
  const stored = JSON.stringify(await world.stores.keys.list({ account: id }, { limit: 10 }));
  expect(stored).not.toContain(key.slice(8));
  expect((await world.admin('GET', `/keys?account=${id}`)).text).not.toContain(key.slice(8));
  expect(world.logLines.join('')).not.toContain(key.slice(8));
});

it.each(['', 'Bearer', 'Bearer wrong', `Basic ${adminToken}`, `Bearer ${adminToken}x`])(
  'the operators’ API rejects %j',
  async (authorization) => {
    const answer = await world.call('GET', '/admin/v1/keys', { headers: { authorization } });
    const message =
      'The operator’s token is missing, not valid or revoked. Send it as "Authorization: Bearer <token>".';
    expect([answer.status, answer.body]).toEqual([401, { error: { ...unauthorized, message } }]);
  },
);

it('an API key opens no operators’ route', async () => {
  const { call } = await world.newAccount();
  expect((await call('GET', '/admin/v1/keys')).status).toBe(401);
});

it('without ADMIN_TOKEN the operators’ API does not exist', async () => {
  const node = await world.startNode({ operatorAuth: undefined } as never);
  const answer = await node.admin('GET', '/keys');
  expect([answer.status, answer.body.error.code]).toEqual([404, 'route_not_found']);
  expect((await node.call('GET', '/openapi.json')).text).not.toContain('/admin/');
});

it('invalid keys cost no read, a known key one read in three seconds, and simultaneous requests share one', async () => {
  let reads = 0;
  let now = 1_000;
  const documents = new Map<string, ApiKey>();
  const auth = createKeyAuth({
    keys: {
      async findByHmac(hmac) {
        reads += 1;
        return documents.get(hmac);
      },
    },
    lastUsed: { note: () => undefined },
    secret: randomBytes(32),
    now: () => now,
    randomBytes,
  });
  const { token: key, hmac, prefix } = auth.newKey();
  documents.set(hmac, { hmac, id: 'key_1', account: 'a', name: '', scopes: [], prefix, createdAt: 0 });
  await auth.authenticate(`Bearer ${key.slice(0, -1)}x`);
  await auth.authenticate('Bearer sk-short');
  expect(reads).toBe(0);
  const callers = await Promise.all(Array.from({ length: 20 }, () => auth.authenticate(`Bearer ${key}`)));
  expect(callers.every((caller) => caller?.account === 'a')).toBe(true);
  await auth.authenticate(`Bearer ${key}`);
  expect(reads).toBe(1);
  now += 3_000;
  await auth.authenticate(`Bearer ${key}`);
  expect(reads).toBe(1);
  now += 1;
  await auth.authenticate(`Bearer ${key}`);
  expect(reads).toBe(2);
  await auth.authenticate(`Bearer ${auth.newKey().token}`);
  await auth.authenticate(`Bearer ${auth.newKey().token}`);
  expect(reads).toBe(4);
});

function unknownKey(): string {
  const auth = createKeyAuth({
    keys: { findByHmac: () => Promise.resolve(undefined) },
    lastUsed: { note: () => undefined },
    secret: randomBytes(32),
    now: Date.now,
    randomBytes,
  });
  return auth.newKey().token;
}
