import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createFal, fal } from '../../../src/providers/fal/index.ts';
import { callback, canned, fixture, providerContext, type CannedAnswer } from '../support.ts';

const { video } = fal;
const body = fixture('fal/callback');
const now = Date.UTC(2026, 10, 22);
const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const stranger = generateKeyPairSync('ed25519');
const jwk = (key: KeyObject) => ({ ...key.export({ format: 'jwk' }), use: 'sig' });
const keys: CannedAnswer = { json: { keys: [{ kty: 'RSA' }, jwk(stranger.publicKey), jwk(publicKey)] } };

interface Signing {
  readonly at?: number;
  readonly key?: KeyObject;
  readonly signed?: unknown;
}

function headersOf({ at = now, key = privateKey, signed = body }: Signing = {}) {
  const timestamp = String(Math.floor(at / 1000));
  const digest = createHash('sha256').update(JSON.stringify(signed)).digest('hex');
  const signature = sign(null, Buffer.from(['r1', 'u1', timestamp, digest].join('\n')), key).toString('hex');
  return {
    'x-fal-webhook-request-id': 'r1',
    'x-fal-webhook-user-id': 'u1',
    'x-fal-webhook-timestamp': timestamp,
    'x-fal-webhook-signature': signature,
  };
}

const isGenuine = (headers: Record<string, string>, answer?: CannedAnswer, baseUrl?: string) => {
  const upstream = answer === undefined ? canned() : canned(answer);
  const verdict = createFal().video?.verifyCallback?.(callback(body, headers), {
    ...providerContext({ request: upstream.request, ...(baseUrl === undefined ? {} : { baseUrl }) }),
    now,
  });
  return { verdict, sent: upstream.sent };
};

describe('a callback', () => {
  it('is genuine if any of the published keys fits, for five minutes', async () => {
    expect(await isGenuine(headersOf(), keys).verdict).toBe(true);
    expect(await isGenuine(headersOf({ at: now - 299_000 }), keys).verdict).toBe(true);
    expect(await isGenuine(headersOf({ at: now + 299_000 }), keys).verdict).toBe(true);
  });

  it('with another key, body, user or time is not genuine', async () => {
    const other = generateKeyPairSync('ed25519').privateKey;
    expect(await isGenuine(headersOf({ key: other }), keys).verdict).toBe(false);
    expect(await isGenuine(headersOf({ signed: { x: 1 } }), keys).verdict).toBe(false);
    expect(await isGenuine({ ...headersOf(), 'x-fal-webhook-user-id': 'u2' }, keys).verdict).toBe(false);
    const later = { 'x-fal-webhook-timestamp': String(now / 1000 + 1) };
    expect(await isGenuine({ ...headersOf(), ...later }, keys).verdict).toBe(false);
  });

  it('that is old or unsigned is not genuine, and no key is fetched', async () => {
    const { 'x-fal-webhook-signature': signature, ...unsigned } = headersOf();
    for (const headers of [
      {},
      unsigned,
      { ...unsigned, 'x-fal-webhook-signature': signature.slice(2) },
      headersOf({ at: now - 301_000 }),
      headersOf({ at: now + 301_000 }),
    ])
      expect(await isGenuine(headers).verdict).toBe(false);
  });

  it.each<[string, CannedAnswer]>([
    ['trouble', { status: 503, json: keys.json }],
    ['a page', { text: '<html>' }],
    ['no key', { json: { keys: [] } }],
    ['a key that is none', { json: { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'short' }] } }],
  ])('cannot be verified while the keys are %s', async (_, answer) => {
    await expect(isGenuine(headersOf(), answer).verdict).rejects.toMatchObject({ code: 'unreadable_answer' });
  });

  it.each([
    ['https://queue.fal.run', 'https://rest.fal.ai'],
    ['https://queue.falrun.com', 'https://rest.fal.ai'],
    ['https://queue.notfalrun.com', 'https://queue.notfalrun.com'],
  ])('is verified without our key: %s has its keys at %s', async (baseUrl, host) => {
    const { verdict, sent } = isGenuine(headersOf(), keys, baseUrl);
    expect(await verdict).toBe(true);
    expect(sent[0]?.url).toBe(`${host}/.well-known/jwks.json`);
    expect(sent[0]?.headers).toBeUndefined();
  });

  describe('whose keys are known', () => {
    const second = generateKeyPairSync('ed25519');
    const older: CannedAnswer = { json: { keys: [jwk(publicKey)] } };
    const newer: CannedAnswer = { json: { keys: [jwk(second.publicKey)] } };

    function verifierOf(...answers: CannedAnswer[]) {
      const upstream = canned(...answers);
      const { video: part } = createFal();
      const verify = (at: number, key: KeyObject) =>
        part?.verifyCallback?.(callback(body, headersOf({ at, key })), {
          ...providerContext({ request: upstream.request }),
          now: at,
        });
      return { verify, sent: upstream.sent };
    }

    it('is verified without refetching them, for a day', async () => {
      const { verify, sent } = verifierOf(older, older);
      for (const hours of [0, 1, 23]) expect(await verify(now + hours * 3_600_000, privateKey)).toBe(true);
      expect(sent).toHaveLength(1);
      expect(await verify(now + 24 * 3_600_000, privateKey)).toBe(true);
      expect(sent).toHaveLength(2);
    });

    it('with an unknown key is verified with the keys that are published now', async () => {
      const { verify, sent } = verifierOf(older, newer);
      expect(await verify(now, privateKey)).toBe(true);
      expect(await verify(now + 61_000, second.privateKey)).toBe(true);
      expect(sent).toHaveLength(2);
    });

    it('cannot be used to have the keys fetched repeatedly', async () => {
      const { verify, sent } = verifierOf(older);
      expect(await verify(now, privateKey)).toBe(true);
      for (let times = 0; times < 5; times += 1)
        expect(await verify(now + 59_000, stranger.privateKey)).toBe(false);
      expect(sent).toHaveLength(1);
    });

    it('is verified with the cached keys while newer ones cannot be fetched', async () => {
      const { verify, sent } = verifierOf(older, { status: 503 });
      expect(await verify(now, privateKey)).toBe(true);
      await expect(verify(now + 61_000, stranger.privateKey)).rejects.toMatchObject({
        code: 'unreadable_answer',
      });
      expect(await verify(now + 62_000, privateKey)).toBe(true);
      expect(await verify(now + 63_000, stranger.privateKey)).toBe(false);
      expect(sent).toHaveLength(2);
    });

    it('are fetched again after a failure', async () => {
      const { verify } = verifierOf({ status: 503 }, older);
      await expect(verify(now, privateKey)).rejects.toMatchObject({ code: 'unreadable_answer' });
      expect(await verify(now, privateKey)).toBe(true);
    });
  });

  it.each<[unknown, boolean]>([
    [body, true],
    [{ status: 'ERROR', error: 'm', payload: null }, true],
    [{ status: 'IN_PROGRESS' }, false],
    ['x', false],
  ])('%j means that the job ended: %s', (said, ended) => {
    expect(video?.parseCallback?.(callback(said))).toEqual({ ended });
  });
});
