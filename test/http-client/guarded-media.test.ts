import { describe, expect, it, onTestFinished } from 'vitest';
import { createGuardedClient, type GuardedClientOptions } from '../../src/http-client/guarded-client.ts';
import { GuardedRequestError, type GuardedClient } from '../../src/http-client/index.ts';
import { failureOf, listen, listenRaw } from './support.ts';

function client(options: Partial<GuardedClientOptions> = {}): GuardedClient {
  const created = createGuardedClient({ networks: ['127.0.0.0/8'], ...options });
  onTestFinished(() => created.close());
  return created;
}

const fetchOf = (url: string) => ({ url, maxBytes: 1_000_000_000, timeoutMs: 30_000 });

async function readAllOf(body: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0;
  for await (const chunk of body) bytes += chunk.byteLength;
  return bytes;
}

async function failureOfBody(body: AsyncIterable<Uint8Array>) {
  const error = await failureOf(readAllOf(body));
  expect(error).toBeInstanceOf(GuardedRequestError);
  return error;
}

describe('redirects', () => {
  it('keep credentials only within an origin', async () => {
    const seen: string[] = [];
    const other = await listen((request, response) => {
      seen.push(`other: ${request.headers.authorization}`);
      response.end('file');
    });
    const own = await listen((request, response) => {
      seen.push(`own${request.url}: ${request.headers.authorization}`);
      const location = request.url === '/first' ? '/second' : other.origin;
      response.writeHead(302, { location }).end();
    });
    const headers = { authorization: 'Bearer k' };
    const media = await client().openMedia({ ...fetchOf(`${own.origin}/first`), headers });
    expect(await readAllOf(media.body)).toBe(4);
    expect(seen).toEqual(['own/first: Bearer k', 'own/second: Bearer k', 'other: undefined']);
  });

  it('that return to the first origin do not expose the credentials to others in between', async () => {
    const seen: string[] = [];
    let ownOrigin = '';
    const other = await listen((request, response) => {
      seen.push(`other: ${request.headers.authorization}`);
      response.writeHead(307, { location: `${ownOrigin}/back` }).end();
    });
    const own = await listen((request, response) => {
      seen.push(`own: ${request.headers.authorization}`);
      if (request.url === '/back') response.end('file');
      else response.writeHead(308, { location: other.origin }).end();
    });
    ownOrigin = own.origin;
    const media = await client().openMedia({ ...fetchOf(own.origin), headers: { authorization: 'k' } });
    expect(await readAllOf(media.body)).toBe(4);
    expect(seen).toEqual(['own: k', 'other: undefined', 'own: k']);
  });

  it.each([
    ['names no address', {}],
    ['names something that is not an address', { location: 'http://' }],
  ])('that %s are a response without a file', async (_, headers) => {
    const server = await listen((__, response) => response.writeHead(302, headers).end());
    expect(await failureOf(client().openMedia(fetchOf(server.origin)))).toMatchObject({
      code: 'bad_status',
      status: 302,
    });
    expect(server.requests).toBe(1);
  });

  it('share one time limit, so that a chain of slow ones does not add up', async () => {
    const server = await listen((request, response) => {
      const left = Number(request.url?.slice(1));
      // No single redirect takes longer than the limit, but all of them together do.
      setTimeout(() => response.writeHead(302, { location: `/${left - 1}` }).end(), 800);
    });
    const fetch = { ...fetchOf(`${server.origin}/3`), timeoutMs: 1_500 };
    expect((await failureOf(client().openMedia(fetch))).code).toBe('timeout');
    expect(server.requests).toBeLessThan(4);
  });

  it('to a name that now resolves to a private address are refused at that hop', async () => {
    const secret = await listen((_, response) => response.end('secret'), '127.0.0.1');
    const open = await listen(
      (_, response) => response.writeHead(302, { location: `http://b.example:${secret.port}/` }).end(),
      '127.0.0.2',
    );
    const addresses: Record<string, string> = { 'a.example': '127.0.0.2', 'b.example': '127.0.0.1' };
    const guarded = client({
      networks: ['127.0.0.2/32'],
      lookup: async (name) => [addresses[name] ?? ''],
    });
    const error = await failureOf(guarded.openMedia(fetchOf(`http://a.example:${open.port}/`)));
    expect([error.code, open.requests, secret.connections]).toEqual(['address_refused', 1, 0]);
  });
});

describe('a file', () => {
  it.each([
    ['shorter than it announced', 'content-length: 10\r\n\r\n12345'],
    ['without its last chunk', 'transfer-encoding: chunked\r\n\r\n5\r\n12345\r\n'],
  ])('%s is not a file', async (_, rest) => {
    const server = await listenRaw((socket) => socket.end(`HTTP/1.1 200 OK\r\n${rest}`));
    const media = await client().openMedia(fetchOf(server.url));
    expect((await failureOfBody(media.body)).code).toBe('connection_lost');
  });

  it('of exactly the limit is read, and one byte more is not', async () => {
    const server = await listen((request, response) => {
      response.write('x');
      response.end('x'.repeat(Number(request.url?.slice(1)) - 1));
    });
    const open = (bytes: number) =>
      client().openMedia({ ...fetchOf(`${server.origin}/${bytes}`), maxBytes: 9 });
    expect(await readAllOf((await open(9)).body)).toBe(9);
    expect((await failureOfBody((await open(10)).body)).code).toBe('answer_too_large');
  });

  it('that stalls fails after the idle limit, not after the total limit', async () => {
    const server = await listen((_, response) => response.writeHead(200).write('1'));
    const fetch = { ...fetchOf(server.origin), timeoutMs: 1_000_000 };
    const media = await client({ bodyTimeoutMs: 100 }).openMedia(fetch);
    expect((await failureOfBody(media.body)).code).toBe('timeout');
  });

  it('that arrives too slowly for the total limit fails', async () => {
    const server = await listen((_, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(drip));
    });
    const opened = client().openMedia({ ...fetchOf(server.origin), timeoutMs: 500 });
    expect((await failureOf(opened.then(({ body }) => readAllOf(body)))).code).toBe('timeout');
  });

  it('ends when its reader aborts', async () => {
    const caller = new AbortController();
    let isClosed = false;
    const server = await listen((_, response) => {
      response.on('close', () => (isClosed = true));
      response.writeHead(200).write('x', () => caller.abort());
    });
    const opened = client().openMedia({ ...fetchOf(server.origin), signal: caller.signal });
    const error = await failureOf(opened.then(({ body }) => readAllOf(body)));
    expect(error.code).toBe('aborted');
    await expect.poll(() => isClosed).toBe(true);
  });

  it('waits for a slow reader on its server, not in memory', async () => {
    const piece = Buffer.alloc(1024 * 1024);
    const pieces = 96;
    let accepted = 0;
    const server = await listen((_, response) => {
      const more = (): void => {
        if (accepted === pieces) response.end();
        else response.write(piece, () => more());
        accepted = Math.min(pieces, accepted + 1);
      };
      response.writeHead(200);
      more();
    });
    const media = await client().openMedia(fetchOf(server.origin));
    const reader = media.body[Symbol.asyncIterator]();
    let bytes = (await reader.next()).value?.byteLength ?? 0;
    // Once the socket buffers of both sides and one of our chunks are full, nothing more is accepted.
    for (let before = -1; before !== accepted;) {
      before = accepted;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    expect(accepted).toBeLessThan(pieces / 2);
    for (let next = await reader.next(); next.done !== true; next = await reader.next())
      bytes += next.value.byteLength;
    expect(bytes).toBe(pieces * piece.byteLength);
  });
});

describe('a callback', () => {
  const delivery = (url: string, timeoutMs = 30_000) => ({ url, headers: {}, body: '{}', timeoutMs });

  it.each([400, 404, 410, 429, 500, 503])(
    'with response status %i is delivered, not failed',
    async (status) => {
      const server = await listen((_, response) => response.writeHead(status).end());
      expect(await client().deliver(delivery(server.origin))).toEqual({ status });
    },
  );

  it('has a code for each reason why there was no response', async () => {
    const broken = await listen((request) => request.socket.destroy());
    const plain = await listen((_, response) => response.end());
    const silent = await listen(() => undefined);
    const codes = await Promise.all(
      [
        delivery(`http://127.0.0.9:${plain.port}/`),
        delivery(broken.origin),
        delivery(`https://127.0.0.1:${plain.port}/`),
        delivery(silent.origin, 200),
      ].map(async (each) => (await failureOf(client().deliver(each))).code),
    );
    expect(codes).toEqual(['connect_failed', 'connection_lost', 'tls_failed', 'timeout']);
  });

  it('to a name that does not resolve in time was not delivered', async () => {
    const nowhere = client({ lookup: () => Promise.reject(new Error('ENOTFOUND')) });
    expect((await failureOf(nowhere.deliver(delivery('http://a.example/')))).code).toBe('dns_failed');
    const silent = client({ lookup: () => new Promise(() => undefined), connectTimeoutMs: 50 });
    expect((await failureOf(silent.deliver(delivery('http://a.example/')))).code).toBe('connect_timeout');
  });

  it('is sent once, even on a connection that its receiver has closed', async () => {
    const bodies: string[] = [];
    const server = await listenRaw((socket, nth) => {
      bodies.push(`${nth}`);
      socket.end('HTTP/1.1 204 No Content\r\n\r\n');
    });
    const guarded = client();
    for (let turn = 0; turn < 3; turn += 1) {
      expect(await guarded.deliver(delivery(server.url))).toEqual({ status: 204 });
      await expect.poll(() => server.open).toBe(0);
    }
    expect([server.connections, bodies]).toEqual([3, ['1', '2', '3']]);
  });
});
