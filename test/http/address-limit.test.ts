import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createAddressLimit } from '../../src/http/address-limit.ts';
import { createClientAddress } from '../../src/http/client-address.ts';
import { createGuessLimit } from '../../src/http/guess-limit.ts';
import { useHttpWorld, videoBody } from '../support/http-world.ts';

const world = useHttpWorld('http_address_limit');

describe('requests without a key', () => {
  it('have a bucket for each address, which fills again', () => {
    let at = 0;
    const limit = createAddressLimit(2, () => at);
    const take = (address: string, times: number) => {
      for (let n = 0; n < times; n += 1) limit.take(address);
    };
    take('a', 20);
    expect(() => limit.take('a')).toThrow(expect.objectContaining({ retryAfterSeconds: 1 }));
    take('b', 20);
    at += 1_000;
    take('a', 2);
    expect(() => limit.take('a')).toThrow(/may make 2 requests a second/);
    // Turning a clock back gives nothing, and takes nothing away.
    at -= 500;
    expect(() => limit.take('a')).toThrow();
    at += 3_600_000;
    take('a', 20);
    expect(() => limit.take('a')).toThrow();
  });

  it('429 on a connection that ends; health, and whoever has a key, are served', async () => {
    const node = await world.startNode({ limits: { addressRequestsPerSecond: 1 } });
    const { key } = await world.newAccount();
    for (let n = 0; n < 30; n += 1) {
      const body = { ...videoBody, prompt: `p${n}` };
      expect((await node.call('POST', '/v1/videos/generations', { key, body })).status).toBe(200);
    }
    const statuses = [];
    for (let n = 0; n < 30; n += 1) statuses.push((await node.call('GET', '/openapi.json')).status);
    expect(statuses.slice(0, 5)).toEqual([200, 200, 200, 200, 200]);
    const refused = await node.call('GET', '/openapi.json');
    expect([refused.status, refused.body.error.code, refused.headers['connection']]).toEqual([
      429,
      'rate_limit_exceeded',
      'close',
    ]);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await node.call('GET', '/healthz')).status).toBe(200);
  });

  it('a wrong key costs more than none', async () => {
    const node = await world.startNode({ limits: { addressRequestsPerSecond: 1 } });
    const statuses = [];
    for (let n = 0; n < 8; n += 1) {
      statuses.push((await node.call('GET', '/v1/balance', { key: 'sk-wrong' })).status);
    }
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect(statuses.indexOf(429)).toBeLessThan(5);
  });
});

describe('guessing operators’ tokens', () => {
  const on = { addressRequestsPerSecond: 1_000 };

  it('without a token nothing is guessed', async () => {
    const node = await world.startNode({ limits: on });
    for (let n = 0; n < 30; n += 1) {
      expect((await node.call('GET', '/admin/v1/accounts')).status).toBe(401);
    }
  });

  it('locks the address out, for longer each time, and says so in the log once', async () => {
    let at = Date.now();
    const node = await world.startNode({ now: () => at, limits: on });
    const guess = () => node.call('GET', '/admin/v1/accounts', { key: 'op-guess' });
    const lockOut = async () => {
      const statuses = [];
      for (let n = 0; n < 25; n += 1) statuses.push((await guess()).status);
      expect(statuses.indexOf(429)).toBe(20);
      expect(new Set(statuses.slice(20))).toEqual(new Set([429]));
    };
    const lines = world.logLines.length;
    await lockOut();
    // The right one is not even looked at.
    const right = await node.admin('GET', '/accounts');
    expect([right.status, right.headers['retry-after']]).toEqual([429, '60']);
    expect(world.logLines.slice(lines).filter((line) => line.includes('locked out'))).toHaveLength(1);
    at += 60_001;
    expect((await node.admin('GET', '/accounts')).status).toBe(200);
    await lockOut();
    expect((await guess()).headers['retry-after']).toBe('120');
  });

  it('are counted while they are checked', async () => {
    const limit = createGuessLimit({ now: () => 0, log: { warn: () => undefined } });
    const checks: (() => void)[] = [];
    const guess = () =>
      limit.guard('a', () => new Promise<undefined>((resolve) => checks.push(() => resolve(undefined))));
    const atOnce = (times: number) => Array.from({ length: times }, guess);
    const wrong = async (times: number) => {
      const guesses = atOnce(times);
      for (const check of checks.splice(0)) check();
      await Promise.all(guesses);
    };
    await wrong(15);
    const settled = Promise.allSettled(atOnce(10));
    expect(checks).toHaveLength(5);
    for (const check of checks.splice(0)) check();
    const refused = (await settled).filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(5);
    await expect(guess()).rejects.toMatchObject({ code: 'rate_limit_exceeded', retryAfterSeconds: 60 });
  });

  it('many at once are not more', async () => {
    const node = await world.startNode({ limits: on });
    const guesses = await Promise.all(
      Array.from({ length: 300 }, () => node.call('GET', '/admin/v1/accounts', { key: 'op-guess' })),
    );
    expect(guesses.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(64);
    expect(guesses.filter(({ status }) => status === 429).length).toBeGreaterThan(200);
  });
});

describe('the address of a caller', () => {
  const requestFrom = (peer: string, forwarded?: string) => {
    const socket = new Socket();
    Object.defineProperty(socket, 'remoteAddress', { value: peer });
    const request = new IncomingMessage(socket);
    if (forwarded !== undefined) request.headers = { 'x-forwarded-for': forwarded };
    return request;
  };

  it.each([
    ['nobody is trusted', [], '10.0.0.1', '1.2.3.4', '10.0.0.1'],
    ['a stranger writes the header', ['10.0.0.0/8'], '5.6.7.8', '1.2.3.4', '5.6.7.8'],
    ['a proxy writes it', ['10.0.0.0/8'], '10.0.0.1', '1.2.3.4', '1.2.3.4'],
    ['a caller lies to a proxy', ['10.0.0.0/8'], '10.0.0.1', '9.9.9.9, 1.2.3.4', '1.2.3.4'],
    ['two proxies', ['10.0.0.0/8'], '10.0.0.1', '1.2.3.4, 10.0.0.2', '1.2.3.4'],
    ['an IPv4 address in IPv6', ['10.0.0.0/8'], '::ffff:10.0.0.1', '1.2.3.4', '1.2.3.4'],
    ['IPv6: a /64', [], '2001:db8:1:2:3:4:5:6', undefined, '8193:3512:1:2'],
    ['nonsense', ['10.0.0.0/8'], '10.0.0.1', 'x', ''],
  ] as const)('%s', (...[, trusted, peer, forwarded, expected]) => {
    expect(createClientAddress(trusted)(requestFrom(peer, forwarded))).toBe(expected);
  });
});
