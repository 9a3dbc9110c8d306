import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGuardedClient, type GuardedClientOptions } from '../../src/http-client/guarded-client.ts';
import { createUpstreamClient } from '../../src/http-client/upstream-client.ts';
import { GuardedRequestError, type GuardedClient } from '../../src/http-client/index.ts';
import { failureOf, listen } from './support.ts';

const corpus = readFileSync(new URL('../fixtures/ssrf-corpus.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));

function client(options: Partial<GuardedClientOptions> = {}): GuardedClient {
  const created = createGuardedClient({ networks: [], ...options });
  onTestFinished(() => created.close());
  return created;
}

const publicAddress = '93.184.216.34';
const patienceMs = 60_000;

describe('the corpus', () => {
  it('contains at least 60 hostile URLs', () => {
    expect(corpus.length).toBeGreaterThanOrEqual(60);
    expect(new Set(corpus).size).toBe(corpus.length);
  });

  it.each(corpus)('%s is refused at creation', (url) => {
    expect(client().checkAddress(url)).toEqual(expect.any(String));
  });

  it('reaches no server, with its own ports or with the port of a listening server', async () => {
    const target = await listen((_, response) => response.end('secret'), '::').catch(() =>
      listen((_, response) => response.end('secret'), '0.0.0.0'),
    );
    // Every name resolves to this machine, so only the checks protect it.
    const guarded = client({ lookup: () => Promise.resolve(['127.0.0.1']) });
    for (const line of corpus) {
      for (const url of [line, withPort(line, target.port)]) {
        const delivery = { url, headers: {}, body: '{}', timeoutMs: patienceMs };
        expect([url, (await failureOf(guarded.deliver(delivery))).code]).toEqual([url, 'address_refused']);
        const media = { url, maxBytes: 100, timeoutMs: patienceMs };
        expect([url, (await failureOf(guarded.openMedia(media))).code]).toEqual([url, 'address_refused']);
      }
    }
    expect(target.connections).toBe(0);
  });

  it('reaches no server even if only the connector checks it', async () => {
    const target = await listen((_, response) => response.end('secret'), '::').catch(() =>
      listen((_, response) => response.end('secret'), '0.0.0.0'),
    );
    const request = createUpstreamClient({
      networks: [],
      lookup: () => Promise.resolve(['127.0.0.1']),
    });
    onTestFinished(() => request.close());
    let tried = 0;
    for (const line of corpus) {
      const url = withPort(line, target.port);
      if (!URL.canParse(url) || !new URL(url).protocol.startsWith('http')) continue;
      tried += 1;
      const error = await failureOf(request({ method: 'GET', url, signal: AbortSignal.timeout(patienceMs) }));
      expect([url, error.outcome, error.code]).toEqual([url, 'not_sent', 'address_refused']);
    }
    expect(tried).toBeGreaterThan(60);
    expect(target.connections).toBe(0);
  });

  function withPort(line: string, port: number): string {
    if (!URL.canParse(line)) return line;
    const url = new URL(line);
    if (!url.protocol.startsWith('http')) return line;
    url.port = String(port);
    return url.href;
  }
});

describe('checkAddress', () => {
  it.each([
    'https://example.com/hook',
    'http://example.com:8080/hook?token=a',
    `http://${publicAddress}/`,
    'https://[2606:4700:4700::1111]/',
    'https://xn--bcher-kva.example.com/',
    'https://bücher.example.com/',
    'https://example.com./',
  ])('%s is permitted', (url) => {
    expect(client().checkAddress(url)).toBeUndefined();
  });

  it('refuses every private IPv4 address in every spelling', () => {
    const privateAddress = fc.oneof(
      fc.tuple(fc.constantFrom(0, 10, 127), byte(), byte(), byte()),
      fc.tuple(fc.constant(192), fc.constant(168), byte(), byte()),
      fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), byte(), byte()),
      fc.tuple(fc.constant(169), fc.constant(254), byte(), byte()),
      fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), byte(), byte()),
      fc.tuple(fc.integer({ min: 224, max: 255 }), byte(), byte(), byte()),
    );
    fc.assert(
      fc.property(privateAddress, ([a, b, c, d]) => {
        const number = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
        const hex = number.toString(16).padStart(8, '0');
        const spellings = [
          `${a}.${b}.${c}.${d}`,
          String(number),
          `0x${hex}`,
          `0${number.toString(8)}`,
          `0x${a.toString(16)}.0${b.toString(8)}.${c}.${d}`,
          `${a}.${b}.${(c << 8) | d}`,
          `[::ffff:${a}.${b}.${c}.${d}]`,
          `[::ffff:${hex.slice(0, 4)}:${hex.slice(4)}]`,
          `[64:ff9b::${hex.slice(0, 4)}:${hex.slice(4)}]`,
          `[2002:${hex.slice(0, 4)}:${hex.slice(4)}::]`,
        ];
        const guarded = client();
        expect(spellings.filter((host) => guarded.checkAddress(`http://${host}/`) === undefined)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  function byte() {
    return fc.integer({ min: 0, max: 255 });
  }

  it('refuses every IPv6 address outside 2000::/3', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const first = Number.parseInt(address.split(':')[0] || '0', 16);
        fc.pre(first < 0x2000 || first > 0x3fff);
        expect(client().checkAddress(`http://[${address}]/`)).toBeDefined();
      }),
    );
  });

  it('permits the networks that the operator names, and no others', () => {
    const local = client({ networks: ['127.0.0.0/8', '10.1.0.0/16', 'fd00:1::/32'] });
    for (const url of [
      'http://127.0.0.1:8099/',
      'http://localhost:8099/',
      'http://10.1.2.3/',
      'http://[fd00:1::5]/',
    ]) {
      expect([url, local.checkAddress(url)]).toEqual([url, undefined]);
    }
    for (const url of [
      'http://10.2.0.1/',
      'http://[::1]/',
      'http://169.254.169.254/',
      'http://localhost:6379/',
    ]) {
      expect([url, local.checkAddress(url)]).toEqual([url, expect.any(String)]);
    }
  });

  it('a URL longer than 8192 characters is refused', () => {
    expect(client().checkAddress(`https://example.com/${'a'.repeat(8192)}`)).toMatch(/longer/);
  });
});

describe('names', () => {
  it('with one private address among public ones are refused', async () => {
    const target = await listen((_, response) => response.end());
    const guarded = client({ lookup: () => Promise.resolve([publicAddress, '127.0.0.1']) });
    const url = `http://mixed.example.com:${target.port}/`;
    const error = await failureOf(guarded.deliver({ url, headers: {}, body: '{}', timeoutMs: patienceMs }));
    expect(error).toBeInstanceOf(GuardedRequestError);
    expect(error.code).toBe('address_refused');
    expect(target.connections).toBe(0);
  });

  it('without an address are refused', async () => {
    const guarded = client({ lookup: () => Promise.resolve([]) });
    const delivery = { url: 'http://none.example.com/', headers: {}, body: '{}', timeoutMs: patienceMs };
    expect((await failureOf(guarded.deliver(delivery))).code).toBe('address_refused');
  });

  it('that resolve differently the second time cannot lead elsewhere', async () => {
    const secret = await listen((_, response) => response.end('secret'), '127.0.0.1');
    const open = await listen((_, response) => response.end(), '127.0.0.2');
    const answers = [['127.0.0.2'], ['127.0.0.1']];
    let lookups = 0;
    const guarded = client({
      networks: ['127.0.0.2/32'],
      lookup: () => Promise.resolve(answers[lookups++] ?? ['127.0.0.1']),
    });
    const delivery = (port: number) => ({
      url: `http://rebind.example.com:${port}/`,
      headers: {},
      body: '{}',
      timeoutMs: patienceMs,
    });
    expect(await guarded.deliver(delivery(open.port))).toEqual({ status: 200 });
    // With a single lookup, the check and the connection cannot see different results.
    expect(lookups).toBe(1);
    expect((await failureOf(guarded.deliver(delivery(secret.port)))).code).toBe('address_refused');
    expect(secret.connections).toBe(0);
  });

  it('localhost never asks a name server', async () => {
    const target = await listen((_, response) => response.end());
    const guarded = client({
      networks: ['127.0.0.0/8'],
      lookup: () => Promise.reject(new Error('asked')),
    });
    const url = `http://localhost:${target.port}/`;
    expect(await guarded.deliver({ url, headers: {}, body: '{}', timeoutMs: patienceMs })).toEqual({
      status: 200,
    });
  });
});

describe('deliver', () => {
  it('reuses a connection after a short response, and closes it during a long one', async () => {
    const answers = ['ok', '', 'x'.repeat(1_000_000), 'ok'];
    const server = await listen((_, response) => {
      const body = answers[server.requests - 1] ?? '';
      response.writeHead(200, { 'content-length': body.length });
      response.end(body);
    });
    const guarded = client({ networks: ['127.0.0.0/8'] });
    const delivery = { url: server.origin, headers: {}, body: '{}', timeoutMs: patienceMs };
    const connections: number[] = [];
    for (const _ of answers) {
      expect(await guarded.deliver(delivery)).toEqual({ status: 200 });
      connections.push(server.connections);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(connections.slice(0, 3)).toEqual([1, 1, 1]);
    expect(connections[3]).toBeGreaterThan(1);
    expect(server.requests).toBe(answers.length);
  });

  const local = () => client({ networks: ['127.0.0.0/8'] });

  it('posts the text with its headers', async () => {
    let seen = '';
    const target = await listen((request, response) => {
      seen = [request.method, request.headers['webhook-id'], request.headers['content-type']].join(' ');
      response.statusCode = 204;
      response.end();
    });
    const delivery = {
      url: target.origin,
      headers: { 'webhook-id': 'w1' },
      body: '{"a":1}',
      timeoutMs: patienceMs,
    };
    expect(await local().deliver(delivery)).toEqual({ status: 204 });
    expect(seen).toBe('POST w1 application/json');
  });

  it('follows no redirect', async () => {
    const target = await listen((_, response) => response.writeHead(301, { location: '/elsewhere' }).end());
    const delivery = { url: target.origin, headers: {}, body: '{}', timeoutMs: patienceMs };
    expect(await local().deliver(delivery)).toEqual({ status: 301 });
    expect(target.requests).toBe(1);
  });

  it('does not wait for a body that never ends', async () => {
    const target = await listen((_, response) => {
      response.writeHead(200);
      response.write('x');
    });
    const delivery = { url: target.origin, headers: {}, body: '{}', timeoutMs: patienceMs };
    expect(await local().deliver(delivery)).toEqual({ status: 200 });
  });

  it('stops at its time limit', async () => {
    const target = await listen(() => undefined);
    const delivery = { url: target.origin, headers: {}, body: '{}', timeoutMs: 100 };
    expect((await failureOf(local().deliver(delivery))).code).toBe('timeout');
  });

  it('gives a request its whole time, however long it waited for a connection', async () => {
    const connectionsPerOrigin = 32;
    const statusesWithin = async (timeoutMs: number) => {
      // Together, the two responses take longer than the limit for a single one.
      const target = await listen((_, response) => setTimeout(() => response.end(), 0.6 * timeoutMs));
      const guarded = local();
      const delivery = { url: target.origin, headers: {}, body: '{}', timeoutMs };
      const answers = await Promise.all(
        Array.from({ length: connectionsPerOrigin + 1 }, () => guarded.deliver(delivery)),
      );
      expect(target.connections).toBe(connectionsPerOrigin);
      return new Set(answers.map(({ status }) => status));
    };
    // On a busy machine, the response may be later than the limit, so the limit is doubled until it suffices.
    let timeoutMs = 2_000;
    await expect.poll(() => statusesWithin((timeoutMs *= 2))).toEqual(new Set([200]));
  });
});

describe('openMedia', () => {
  const local = () => client({ networks: ['127.0.0.2/32'] });
  const read = async (body: AsyncIterable<Uint8Array>) => {
    let bytes = 0;
    for await (const chunk of body) bytes += chunk.byteLength;
    return bytes;
  };

  it('streams a file with its type and size', async () => {
    const target = await listen((_, response) => {
      response.writeHead(200, { 'content-type': 'Image/PNG; charset=x', 'content-length': '5' });
      response.end('12345');
    }, '127.0.0.2');
    const media = await local().openMedia({ url: target.origin, maxBytes: 5, timeoutMs: patienceMs });
    expect(media).toMatchObject({ mediaType: 'image/png', bytes: 5 });
    expect(await read(media.body)).toBe(5);
  });

  it('follows three redirects but not four', async () => {
    const target = await listen((request, response) => {
      const left = Number(new URL(request.url ?? '/', 'http://x').searchParams.get('left'));
      if (left === 0) response.end('ok');
      else response.writeHead(302, { location: `/?left=${left - 1}` }).end();
    }, '127.0.0.2');
    const fetch = (left: number) => ({
      url: `${target.origin}/?left=${left}`,
      maxBytes: 9,
      timeoutMs: patienceMs,
    });
    expect(await read((await local().openMedia(fetch(3))).body)).toBe(2);
    expect((await failureOf(local().openMedia(fetch(4)))).code).toBe('too_many_redirects');
  });

  it('does not follow a redirect to a private address, or to a forbidden port or scheme', async () => {
    const secret = await listen((_, response) => response.end('secret'), '127.0.0.1');
    const locations = [
      secret.origin,
      'http://[::1]/',
      'file:///etc/passwd',
      'http://localhost:6379/',
      '//127.0.0.1/',
    ];
    for (const location of locations) {
      const target = await listen((_, response) => response.writeHead(302, { location }).end(), '127.0.0.2');
      const fetch = { url: target.origin, maxBytes: 9, timeoutMs: patienceMs };
      expect([location, (await failureOf(local().openMedia(fetch))).code]).toEqual([
        location,
        'address_refused',
      ]);
    }
    expect(secret.connections).toBe(0);
  });

  it('refuses a file that is too large, encoded or missing', async () => {
    const serve = (listener: Parameters<typeof listen>[0]) => listen(listener, '127.0.0.2');
    const announced = await serve((_, response) => response.end('123456'));
    const missing = await serve((_, response) => response.writeHead(403).end());
    const encoded = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'br' }).end('x'),
    );
    const chunked = await serve((_, response) => {
      response.write('123');
      response.end('456');
    });
    const fetch = (url: string) => ({ url, maxBytes: 5, timeoutMs: patienceMs });
    expect((await failureOf(local().openMedia(fetch(announced.origin)))).code).toBe('answer_too_large');
    expect(await failureOf(local().openMedia(fetch(missing.origin)))).toMatchObject({
      code: 'bad_status',
      status: 403,
    });
    expect((await failureOf(local().openMedia(fetch(encoded.origin)))).code).toBe('encoded_answer');
    const media = await local().openMedia(fetch(chunked.origin));
    expect((await failureOf(read(media.body))).code).toBe('answer_too_large');
  });

  it('a reader that stops early closes the connection', async () => {
    let closed = false;
    const target = await listen((request, response) => {
      response.writeHead(200);
      response.write('x');
      request.socket.on('close', () => (closed = true));
    }, '127.0.0.2');
    const media = await local().openMedia({ url: target.origin, maxBytes: 5, timeoutMs: patienceMs });
    for await (const _ of media.body) break;
    await expect.poll(() => closed).toBe(true);
  });
});
