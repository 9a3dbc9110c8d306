import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createUpstreamClient, type UpstreamClientOptions } from '../../src/http-client/upstream-client.ts';
import type { HttpRequestOptions } from '../../src/providers/provider.ts';
import { failureOf, listen, listenRaw } from './support.ts';

function client(options: Partial<UpstreamClientOptions> = {}) {
  const created = createUpstreamClient({ networks: ['127.0.0.0/8'], ...options });
  onTestFinished(() => created.close());
  return created;
}

const patience = () => AbortSignal.timeout(30_000);
const endless = () => new AbortController().signal;
const get = (url: string, change: Partial<HttpRequestOptions> = {}): HttpRequestOptions => ({
  method: 'GET',
  url,
  signal: patience(),
  ...change,
});

/** Waits, and then lets the process read what has arrived, even if it got no CPU time in the meantime. */
async function idle(ms: number): Promise<void> {
  await sleep(ms);
  for (let turns = 0; turns < 2; turns += 1) await nextTurn();
}

const answering = (text: string, end = false) =>
  listenRaw((socket) => {
    if (end) socket.end(text);
    else socket.write(text);
  });

describe('a response in chunks', () => {
  it('is reassembled', async () => {
    const server = await answering(
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"a":\r\n2;x=y\r\n1}\r\n0\r\n\r\n',
    );
    expect((await client()(get(server.url))).json).toEqual({ a: 1 });
  });

  it.each([
    ['has no last chunk', '7\r\n{"a":1}\r\n'],
    ['ends in the middle of a chunk', '9\r\n{"a":1}'],
    ['ends before its last empty line', '7\r\n{"a":1}\r\n0\r\n'],
    ['has a size that is not a number', 'x7\r\n{"a":1}\r\n0\r\n\r\n'],
    ['has a chunk that is longer than its size', '3\r\n{"a":1}\r\n0\r\n\r\n'],
  ])('that %s is incomplete, although all of its JSON has arrived', async (_, body) => {
    const server = await answering(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body}`, true);
    expect(await failureOf(client()(get(server.url)))).toMatchObject({
      outcome: 'ambiguous',
      code: 'connection_lost',
      status: 200,
    });
  });
});

describe('a response with a length', () => {
  it('with fewer bytes than announced is incomplete', async () => {
    const server = await answering('HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n{"a":1}', true);
    expect(await failureOf(client()(get(server.url)))).toMatchObject({
      code: 'connection_lost',
      status: 200,
    });
  });

  it.each([
    ['two lengths that differ', 'content-length: 2\r\ncontent-length: 7\r\n\r\n{"a":1}'],
    [
      'a length beside chunks',
      'content-length: 7\r\ntransfer-encoding: chunked\r\n\r\n7\r\n{"a":1}\r\n0\r\n\r\n',
    ],
    ['a length that is not a number', 'content-length: 7x\r\n\r\n{"a":1}'],
  ])('is refused with %s', async (_, rest) => {
    const server = await answering(`HTTP/1.1 200 OK\r\n${rest}`, true);
    expect(await failureOf(client()(get(server.url)))).toMatchObject({
      outcome: 'ambiguous',
      code: 'connection_lost',
    });
  });

  it('affects no later request, because bytes after it are not read as a response', async () => {
    const server = await listenRaw((socket, nth) => {
      const own = `HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n{"n":${nth}}`;
      socket.write(nth === 1 ? `${own}HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n{"n":9}` : own);
    });
    const request = client();
    const seen: unknown[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      const answer = await request(get(server.url)).catch((error: unknown) => error);
      seen.push(answer instanceof Error ? answer.message : Reflect.get(Object(answer), 'json'));
      await idle(20);
    }
    expect(seen).not.toContainEqual({ n: 9 });
    expect(seen.at(-1)).toMatchObject({ n: expect.any(Number) });
  });
});

it('a response without a length ends with its connection', async () => {
  const server = await answering('HTTP/1.1 200 OK\r\n\r\n{"a":1}', true);
  expect((await client()(get(server.url))).json).toEqual({ a: 1 });
});

it('informational responses precede the response and do not replace it', async () => {
  const server = await answering(
    'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n' +
      'HTTP/1.1 201 Created\r\ncontent-length: 7\r\n\r\n{"a":1}',
  );
  const answer = await client()(get(server.url));
  expect([answer.status, answer.json, answer.headers['link']]).toEqual([201, { a: 1 }, undefined]);
});

it('a response without a body has an empty text and no JSON', async () => {
  const server = await answering('HTTP/1.1 204 No Content\r\n\r\n');
  const answer = await client()(get(server.url));
  expect([answer.status, answer.text, answer.json]).toEqual([204, '', undefined]);
});

it('endless headers are not read forever', async () => {
  const server = await listenRaw((socket) => {
    const more = (): boolean => socket.writable && socket.write(`x-filler: ${'a'.repeat(2_000)}\r\n`, next);
    const next = (): void => void setImmediate(more);
    socket.write('HTTP/1.1 200 OK\r\n', next);
  });
  expect(await failureOf(client()(get(server.url)))).toMatchObject({
    outcome: 'ambiguous',
    code: 'connection_lost',
  });
});

describe('a response that is encoded', () => {
  it.each(['gzip', ' GZIP ', 'x-gzip', 'deflate', 'br', 'zstd', 'gzip, identity', 'aws-chunked'])(
    'as "%s" is refused and never decoded',
    async (encoding) => {
      const server = await listen((_, response) => {
        response.writeHead(200, { 'content-encoding': encoding });
        response.end(gzipSync('{"a":1}'));
      });
      expect(await failureOf(client()(get(server.origin)))).toMatchObject({
        outcome: 'ambiguous',
        code: 'encoded_answer',
        status: 200,
      });
    },
  );

  it.each(['identity', ' Identity ', ''])('as "%s" is treated as plain', async (encoding) => {
    const server = await listen((_, response) => {
      response.writeHead(200, { 'content-encoding': encoding });
      response.end('{"a":1}');
    });
    expect((await client()(get(server.origin))).json).toEqual({ a: 1 });
  });

  it('and endless is not read', async () => {
    let isClosed = false;
    const server = await listen((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      const piece = gzipSync(Buffer.alloc(1024 * 1024));
      const more = (): void => {
        if (!response.destroyed) response.write(piece, () => setImmediate(more));
      };
      response.on('close', () => (isClosed = true));
      more();
    });
    expect((await failureOf(client()(get(server.origin)))).code).toBe('encoded_answer');
    await expect.poll(() => isClosed).toBe(true);
  });
});

describe('the size limit', () => {
  it('applies to an announced length before anything is read', async () => {
    let isClosed = false;
    const server = await listen((_, response) => {
      response.on('close', () => (isClosed = true));
      response.writeHead(200, { 'content-length': 1_000_000 });
      // Only the headers are sent, so a client that waited for the body would run into its timeout.
      response.flushHeaders();
    });
    expect(await failureOf(client()(get(server.origin, { bodyBytesMax: 100 })))).toMatchObject({
      code: 'answer_too_large',
      status: 200,
    });
    await expect.poll(() => isClosed).toBe(true);
  });

  it('applies to responses whose long strings are kept as bytes', async () => {
    const server = await listen((_, response) => {
      response.write('{"data":"');
      response.write('x'.repeat(40_000));
      response.end('"}');
    });
    const request = client();
    const asked = { largeStrings: true };
    const cut = get(server.origin, { ...asked, bodyBytesMax: 40_010 });
    expect((await failureOf(request(cut))).code).toBe('answer_too_large');
    const whole = await request(get(server.origin, { ...asked, bodyBytesMax: 40_011 }));
    expect(whole.json).toMatchObject({ data: { bytes: 40_000 } });
  });

  it('is a megabyte by default', async () => {
    const server = await listen((request, response) => {
      response.write('x');
      response.end('x'.repeat(Number(request.headers['x-bytes']) - 1));
    });
    const request = client();
    const sized = (bytes: number) => get(server.origin, { headers: { 'x-bytes': String(bytes) } });
    expect((await request(sized(1024 * 1024))).text).toHaveLength(1024 * 1024);
    expect((await failureOf(request(sized(1024 * 1024 + 1)))).code).toBe('answer_too_large');
  });
});

describe('the time limits', () => {
  it('for the headers ends the wait for them, whatever the caller allows', async () => {
    const server = await listen(() => undefined);
    const request = client({ headersTimeoutMs: 100 });
    expect(await failureOf(request(get(server.origin, { signal: endless() })))).toMatchObject({
      outcome: 'ambiguous',
      code: 'timeout',
      status: undefined,
    });
  });

  it('for the body applies between two chunks', async () => {
    const server = await listen((_, response) => response.writeHead(200).write('{"a":'));
    const request = client({ bodyTimeoutMs: 100 });
    const asked = get(server.origin, { signal: endless() });
    expect(await failureOf(request(asked))).toMatchObject({ code: 'timeout', status: 200 });
  });

  it('for the body does not apply to the whole body', async () => {
    const pieces = ['{', '"a"', ':', '1', '}'];
    const askWith = async (pauseMs: number): Promise<unknown> => {
      const server = await listen(async (_, response) => {
        for (const piece of pieces) {
          response.write(piece);
          await new Promise((resolve) => setTimeout(resolve, pauseMs));
        }
        response.end();
      });
      const request = client({ bodyTimeoutMs: 4 * pauseMs });
      return (await request(get(server.origin))).json;
    };
    // On a busy machine, even a single pause may reach the limit, so both are doubled until the test passes.
    let pauseMs = 250;
    await expect.poll(() => askWith((pauseMs *= 2))).toEqual({ a: 1 });
  });

  it('of the caller applies to the whole request, even while the body arrives slowly', async () => {
    const server = await listen((_, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(drip));
    });
    const within = (ms: number) =>
      failureOf(client()(get(server.origin, { signal: AbortSignal.timeout(ms) })));
    // On a busy machine, even the head of the response may take longer, so the limit is doubled until it suffices.
    let ms = 150;
    await expect.poll(() => within((ms *= 2))).toMatchObject({ code: 'timeout', status: 200 });
  });

  it('an abort in the middle of the body is not a timeout, and closes the connection', async () => {
    let isClosed = false;
    const caller = new AbortController();
    const server = await listen((_, response) => {
      response.on('close', () => (isClosed = true));
      response.writeHead(200).write('{"a":', () => caller.abort());
    });
    expect(await failureOf(client()(get(server.origin, { signal: caller.signal })))).toMatchObject({
      outcome: 'ambiguous',
      code: 'aborted',
    });
    await expect.poll(() => isClosed).toBe(true);
  });
});

describe('connections', () => {
  it('that the server closed while they were idle are not reused', async () => {
    const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}';
    const server = await listenRaw((socket) => socket.end(answer));
    const request = client();
    for (let turn = 0; turn < 3; turn += 1) {
      expect((await request(get(server.url, { method: 'POST', json: {} }))).status).toBe(200);
      await expect.poll(() => server.open).toBe(0);
    }
    expect([server.connections, server.requests]).toEqual([3, 3]);
  });

  it('whose response announces that they close are not reused', async () => {
    const server = await answering('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}');
    const request = client();
    for (let turn = 0; turn < 3; turn += 1) await request(get(server.url));
    expect(server.connections).toBe(3);
  });

  it('use the next address of a name if the first refuses', async () => {
    const server = await listen((_, response) => response.end('{}'));
    const request = client({ lookup: () => Promise.resolve(['127.0.0.9', '127.0.0.1']) });
    expect((await request(get(`http://upstream.example:${server.port}/`))).status).toBe(200);
  });

  it('beyond the limit of an origin wait for a free one, and none are lost', async () => {
    const waiting: ServerResponse[] = [];
    const server = await listen((_, response) => waiting.push(response));
    const request = client({ connectionsPerOrigin: 3 });
    const answers = Array.from({ length: 20 }, () => request(get(server.origin)));
    for (let left = answers.length; left > 0; left -= 3) {
      await expect.poll(() => waiting).toHaveLength(Math.min(left, 3));
      for (const response of waiting.splice(0)) response.end('{}');
    }
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect([server.connections, server.requests]).toEqual([3, 20]);
  });

  it('a request that was aborted while it waited for one is never sent', async () => {
    let answer = (): void => undefined;
    const server = await listen((_, response) => {
      answer = () => response.end('{}');
    });
    const request = client({ connectionsPerOrigin: 1 });
    const first = request(get(server.origin));
    await expect.poll(() => server.requests).toBe(1);
    const caller = new AbortController();
    const second = failureOf(request(get(`${server.origin}/second`, { signal: caller.signal })));
    await new Promise((resolve) => setImmediate(resolve));
    caller.abort();
    expect(await second).toMatchObject({ outcome: 'not_sent', code: 'aborted' });
    answer();
    await first;
    const third = request(get(`${server.origin}/third`));
    await expect.poll(() => server.requests).toBe(2);
    answer();
    await third;
    expect(server.requests).toBe(2);
  });
});
