import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createAddressLimit } from '../../src/http/address-limit.ts';
import { createClientAddress } from '../../src/http/client-address.ts';
import { useHttpWorld, videoBody } from '../support/http-world.ts';

const world = useHttpWorld('http_address_limit');

const limitedNode = () =>
  world.startNode({ limits: { addressRequestsPerSecond: 1 }, now: () => 1_800_000_000_000 });

describe('requests without a key', () => {
  it('have a bucket for each address, which refills', () => {
    let at = 0;
    const limit = createAddressLimit(2, { now: () => at, log: { warn: () => undefined } });
    const take = (address: string, times: number) => {
      for (let n = 0; n < times; n += 1) limit.take(address);
    };
    take('a', 20);
    expect(() => limit.take('a')).toThrow(expect.objectContaining({ retryAfterSeconds: 1 }));
    take('b', 20);
    at += 1_000;
    take('a', 2);
    expect(() => limit.take('a')).toThrow(/is limited to 2 requests per second/);
    at -= 500;
    expect(() => limit.take('a')).toThrow();
    at += 3_600_000;
    take('a', 20);
    expect(() => limit.take('a')).toThrow();
  });

  it('429 on a connection that then ends, while health checks and callers with a key are served', async () => {
    const node = await limitedNode();
    const { key } = await world.newAccount();
    for (let n = 0; n < 30; n += 1) {
      const body = { ...videoBody, prompt: `p${n}` };
      expect((await node.call('POST', '/v1/videos/generations', { key, body })).status).toBe(200);
    }
    for (let n = 0; n < 10; n += 1) expect((await node.call('GET', '/openapi.json')).status).toBe(200);
    const refused = await node.call('GET', '/openapi.json');
    expect([refused.status, refused.body.error.code, refused.headers['connection']]).toEqual([
      429,
      'rate_limit_exceeded',
      'close',
    ]);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await node.call('GET', '/healthz')).status).toBe(200);
  });

  it.each([
    ['a wrong key', '/v1/balance', `sk-${'0'.repeat(51)}`],
    ['a wrong operator’s token', '/admin/v1/accounts', 'op-guess'],
  ])('%s costs more than a missing key, and is logged', async (_, path, key) => {
    const node = await limitedNode();
    const lines = world.logLines.length;
    const statuses = [];
    for (let n = 0; n < 8; n += 1) statuses.push((await node.call('GET', path, { key })).status);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect(statuses.indexOf(429)).toBeLessThan(5);
    expect(world.logLines.slice(lines).filter((line) => line.includes('so many wrong keys'))).toHaveLength(1);
  });
});

describe('despite anything that strangers at the same address have done', () => {
  async function floodedNode() {
    const node = await limitedNode();
    for (let n = 0; n < 5; n += 1) await node.call('GET', '/v1/balance', { key: 'sk-wrong' });
    expect((await node.call('GET', '/openapi.json')).status).toBe(429);
    return node;
  }

  it('a valid key and a valid operator’s token are accepted', async () => {
    const { key } = await world.newAccount();
    const node = await floodedNode();
    for (let n = 0; n < 20; n += 1) expect((await node.call('GET', '/v1/models', { key })).status).toBe(200);
    expect((await node.admin('GET', '/accounts')).status).toBe(200);
  });

  it.each([
    ['no key', '/v1/balance', undefined, 429],
    ['a wrong key', '/v1/balance', 'sk-wrong', 429],
    ['a wrong operator’s token', '/admin/v1/accounts', 'op-guess', 429],
    ['an unknown address', '/nothing', undefined, 429],
    ['a link that nobody signed', '/media/task_0123456789abcdefghijkl/0.mp4?expires=1&sig=x', undefined, 429],
    ['a probe', '/healthz', undefined, 200],
  ] as const)('%s at %s', async (...[, path, key, status]) => {
    const node = await floodedNode();
    const how = key === undefined ? {} : { key };
    expect((await node.call('GET', path, how)).status).toBe(status);
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
    expect(createClientAddress(trusted, Date.now).of(requestFrom(peer, forwarded))).toBe(expected);
  });

  it('reports an untrusted proxy for a while', () => {
    let at = 0;
    const address = createClientAddress([], () => at);
    address.of(requestFrom('10.0.0.1'));
    expect(address.isProxied()).toBe(false);
    address.of(requestFrom('10.0.0.1', '1.2.3.4'));
    expect(address.isProxied()).toBe(true);
    at += 600_000;
    expect(address.isProxied()).toBe(false);
  });
});
