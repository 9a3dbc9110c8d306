import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createUpstreamClient, type UpstreamClientOptions } from '../../src/http-client/upstream-client.ts';
import { UpstreamError } from '../../src/providers/provider.ts';
import { FileDataUrl } from '../../src/providers/shared/file-data-url.ts';
import { timeLimit } from '../../src/process/running-time.ts';
import { gate } from '../support/race.ts';
import { standStill } from '../support/stand-still.ts';
import { failureOf, listen, listenRaw, readAll } from './support.ts';

function client(options: Partial<UpstreamClientOptions> = {}) {
  const created = createUpstreamClient({ networks: ['127.0.0.0/8'], ...options });
  onTestFinished(() => created.close());
  return created;
}

async function temporaryFile(content: Buffer): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'mediary-test-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, 'file');
  await writeFile(path, content);
  return path;
}

const soon = () => AbortSignal.timeout(60_000);

describe('a response', () => {
  it('of any status is returned with its headers, text and JSON', async () => {
    const server = await listen((_, response) => {
      response.writeHead(429, { 'retry-after': '7', 'content-type': 'application/json' });
      response.end('{"error":{"code":"RateLimit"}}');
    });
    const answer = await client()({
      method: 'POST',
      url: `${server.origin}/x`,
      json: { a: 1 },
      signal: soon(),
    });
    expect(answer.status).toBe(429);
    expect(answer.headers['retry-after']).toBe('7');
    expect(answer.json).toEqual({ error: { code: 'RateLimit' } });
    expect(answer.text).toContain('RateLimit');
  });

  it('that is not JSON has no JSON value', async () => {
    const server = await listen((_, response) => response.end('<html>'));
    const answer = await client()({ method: 'GET', url: server.origin, signal: soon() });
    expect(answer.json).toBeUndefined();
  });

  it('that redirects is not followed', async () => {
    const server = await listen((_, response) => response.writeHead(302, { location: '/other' }).end());
    const answer = await client()({ method: 'GET', url: server.origin, signal: soon() });
    expect(answer.status).toBe(302);
    expect(server.requests).toBe(1);
  });

  it('that arrives after this process was paused for longer than the limit is read', async () => {
    const asked = gate();
    let answer = (): void => undefined;
    const server = await listen((_, response) => {
      answer = () => void response.end('{"id":"job"}');
      asked.resolve();
    });
    const answered = client()({ method: 'GET', url: server.origin, signal: timeLimit(1_000) });
    await asked.promise;
    standStill(3_000);
    // This resolves only after all due timers have fired.
    await new Promise((resolve) => setImmediate(resolve));
    answer();
    expect((await answered).json).toEqual({ id: 'job' });
  });
});

describe('a request', () => {
  it('requests no encoding and sends JSON', async () => {
    let seen: unknown;
    const server = await listen(async (request, response) => {
      seen = { headers: request.headers, body: JSON.parse(await readAll(request)) };
      response.end('{}');
    });
    await client()({
      method: 'POST',
      url: server.origin,
      headers: { authorization: 'Bearer k' },
      json: { prompt: 'ü' },
      signal: soon(),
    });
    expect(seen).toMatchObject({
      headers: {
        'accept-encoding': 'identity',
        'content-type': 'application/json',
        authorization: 'Bearer k',
      },
      body: { prompt: 'ü' },
    });
  });

  it('sends forms with files and a length', async () => {
    let seen = '';
    let headers: Record<string, unknown> = {};
    const server = await listen(async (request, response) => {
      seen = await readAll(request);
      headers = request.headers;
      response.end('{}');
    });
    const form = new FormData();
    form.append('prompt', 'a cube');
    form.append('image[]', new Blob(['PNG!'], { type: 'image/png' }), 'a.png');
    await client()({ method: 'POST', url: server.origin, form, signal: soon() });
    expect(headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(Number(headers['content-length'])).toBe(Buffer.byteLength(seen));
    expect(seen).toContain('name="image[]"; filename="a.png"\r\nContent-Type: image/png\r\n\r\nPNG!');
  });

  it('sends a file inside JSON as base64, piece by piece, with a length', async () => {
    // The length is neither a multiple of three nor of the chunk size.
    const content = randomBytes(1_000_001);
    const path = await temporaryFile(content);
    let seen: unknown;
    let headers: Record<string, unknown> = {};
    const server = await listen(async (request, response) => {
      const text = await readAll(request);
      seen = { bytes: Buffer.byteLength(text), json: JSON.parse(text) };
      headers = request.headers;
      response.end('{}');
    });
    const url = new FileDataUrl({ mediaType: 'image/png', path, bytes: content.length });
    const json = { prompt: 'ü"', images: [url, 'https://a.example/', url], mask: { nested: url } };
    await client()({ method: 'POST', url: server.origin, json, signal: soon() });
    const text = `data:image/png;base64,${content.toString('base64')}`;
    expect(seen).toEqual({
      bytes: Number(headers['content-length']),
      json: { prompt: 'ü"', images: [text, 'https://a.example/', text], mask: { nested: text } },
    });
    expect(headers['content-type']).toBe('application/json');
  });

  it('with a missing or changed file is not sent', async () => {
    const server = await listen((_, response) => response.end('{}'));
    const path = await temporaryFile(Buffer.from('PNG'));
    for (const file of [
      { path: `${path}.gone`, bytes: 3 },
      { path, bytes: 4 },
    ]) {
      const json = { image: new FileDataUrl({ mediaType: 'image/png', ...file }) };
      const call = client()({ method: 'POST', url: server.origin, json, signal: soon() });
      expect(await failureOf(call)).toMatchObject({ outcome: 'not_sent', code: 'invalid_request' });
    }
    expect(server.requests).toBe(0);
  });

  it('escapes the names of a form as browsers do', async () => {
    let seen = '';
    const server = await listen(async (request, response) => {
      seen = await readAll(request);
      response.end('{}');
    });
    const form = new FormData();
    form.append('a"\r\nx: y', 'one\ntwo');
    form.append('image', new Blob(['P']), '"\n.png');
    await client()({ method: 'POST', url: server.origin, form, signal: soon() });
    expect(seen).toContain('name="a%22%0D%0Ax: y"\r\n\r\none\r\ntwo\r\n');
    expect(seen).toContain('filename="%22%0D%0A.png"\r\nContent-Type: application/octet-stream\r\n\r\nP');
  });

  it('reuses the connection of the previous request', async () => {
    const server = await listen((_, response) => response.end('{}'));
    const request = client();
    for (let turn = 0; turn < 6; turn += 1)
      await request({ method: 'GET', url: server.origin, signal: soon() });
    // Allow two connections. A request that starts in the same tick in which the first one finishes still finds its
    // connection busy.
    expect(server.connections).toBeLessThanOrEqual(2);
  });
});

describe('not sent', () => {
  const outcome = async (promise: Promise<unknown>) => {
    const error = await failureOf(promise);
    expect(error).toBeInstanceOf(UpstreamError);
    return [error.outcome, error.code];
  };

  it('is a refused connection', async () => {
    const closed = await listenRaw(() => undefined);
    const port = 1;
    expect(closed.requests).toBe(0);
    const asked = client()({ method: 'POST', url: `http://127.0.0.1:${port}/`, json: {}, signal: soon() });
    expect(await outcome(asked)).toEqual(['not_sent', 'connect_failed']);
  });

  it('is a name that does not resolve', async () => {
    const request = client({ lookup: () => Promise.reject(new Error('ENOTFOUND')) });
    const asked = request({ method: 'POST', url: 'http://upstream.example/', json: {}, signal: soon() });
    expect(await outcome(asked)).toEqual(['not_sent', 'dns_failed']);
  });

  it('is a name server that never responds', async () => {
    const request = client({ lookup: () => new Promise(() => undefined), connectTimeoutMs: 50 });
    const asked = request({ method: 'POST', url: 'http://upstream.example/', json: {}, signal: soon() });
    expect(await outcome(asked)).toEqual(['not_sent', 'connect_timeout']);
  });

  it('is a failed TLS handshake', async () => {
    const server = await listen((_, response) => response.end('{}'));
    const url = `https://127.0.0.1:${server.port}/`;
    expect(await outcome(client()({ method: 'POST', url, json: {}, signal: soon() }))).toEqual([
      'not_sent',
      'tls_failed',
    ]);
    expect(server.requests).toBe(0);
  });

  it('is a TLS handshake that never ends', async () => {
    const silent = await listenRaw(() => undefined);
    const url = silent.url.replace('http:', 'https:');
    const request = client({ connectTimeoutMs: 1_200 });
    expect((await outcome(request({ method: 'POST', url, json: {}, signal: soon() })))[0]).toBe('not_sent');
  });

  it('is an address that the operator did not permit', async () => {
    const server = await listen((_, response) => response.end('{}'));
    const request = client({ networks: [] });
    const asked = request({ method: 'POST', url: server.origin, json: {}, signal: soon() });
    expect(await outcome(asked)).toEqual(['not_sent', 'address_refused']);
    expect(server.connections).toBe(0);
  });

  it('is a request that was aborted before', async () => {
    const server = await listen((_, response) => response.end('{}'));
    const signal = AbortSignal.abort();
    expect(await outcome(client()({ method: 'POST', url: server.origin, json: {}, signal }))).toEqual([
      'not_sent',
      'aborted',
    ]);
  });

  it('is a request that was aborted while it waited for its connection', async () => {
    const request = client({ lookup: () => new Promise(() => undefined), connectTimeoutMs: 300 });
    const signal = AbortSignal.timeout(30);
    const asked = request({ method: 'POST', url: 'http://upstream.example/', json: {}, signal });
    expect((await outcome(asked))[0]).toBe('not_sent');
  });
});

describe('ambiguous', () => {
  const outcome = async (promise: Promise<unknown>) => {
    const error = await failureOf(promise);
    expect(error).toBeInstanceOf(UpstreamError);
    return [error.outcome, error.code, error.status];
  };

  it('is a connection that breaks after the request', async () => {
    const server = await listen((request) => request.socket.destroy());
    expect(await outcome(client()({ method: 'POST', url: server.origin, json: {}, signal: soon() }))).toEqual(
      ['ambiguous', 'connection_lost', undefined],
    );
    expect(server.requests).toBe(1);
  });

  it('is a response that does not come in time', async () => {
    const limit = new AbortController();
    const server = await listen(() => limit.abort(new DOMException('Too late.', 'TimeoutError')));
    const asked = client()({ method: 'POST', url: server.origin, json: {}, signal: limit.signal });
    expect(await outcome(asked)).toEqual(['ambiguous', 'timeout', undefined]);
  });

  it('is a body that breaks off, is too slow or never ends', async () => {
    const truncated = await listen((request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"id":', () => request.socket.destroy());
    });
    expect(
      await outcome(client()({ method: 'POST', url: truncated.origin, json: {}, signal: soon() })),
    ).toEqual(['ambiguous', 'connection_lost', 200]);
    const stalled = await listen((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"id":');
    });
    const within = (ms: number) =>
      outcome(client()({ method: 'POST', url: stalled.origin, json: {}, signal: AbortSignal.timeout(ms) }));
    // On a busy machine, even the head of the response may take longer, so the limit is doubled until it suffices.
    let ms = 75;
    await expect.poll(() => within((ms *= 2))).toEqual(['ambiguous', 'timeout', 200]);
  });

  it('is a response that is too large, announced or not', async () => {
    const announced = await listen((_, response) => response.end('x'.repeat(2000)));
    const chunked = await listen((_, response) => {
      response.write('x'.repeat(1000));
      response.end('x'.repeat(1000));
    });
    for (const { origin } of [announced, chunked]) {
      const asked = client()({ method: 'GET', url: origin, signal: soon(), bodyBytesMax: 1999 });
      expect(await outcome(asked)).toEqual(['ambiguous', 'answer_too_large', 200]);
    }
    const fits = await client()({ method: 'GET', url: chunked.origin, signal: soon(), bodyBytesMax: 2000 });
    expect(fits.text).toHaveLength(2000);
  });

  it('is an encoded response', async () => {
    const server = await listen((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(gzipSync('{"id":"1"}'));
    });
    expect(await outcome(client()({ method: 'POST', url: server.origin, json: {}, signal: soon() }))).toEqual(
      ['ambiguous', 'encoded_answer', 200],
    );
  });

  it('is a kept connection that the server closes as we write, and nothing is resent', async () => {
    const server = await listenRaw((socket, nth) => {
      if (nth === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
      else socket.destroy();
    });
    const request = client();
    await request({ method: 'GET', url: server.url, signal: soon() });
    expect((await outcome(request({ method: 'POST', url: server.url, json: {}, signal: soon() })))[0]).toBe(
      'ambiguous',
    );
    expect(server.requests).toBe(2);
  });

  it('is a response that is not HTTP', async () => {
    const server = await listenRaw((socket) => socket.end('SSH-2.0-OpenSSH\r\n'));
    expect((await outcome(client()({ method: 'POST', url: server.url, json: {}, signal: soon() })))[0]).toBe(
      'ambiguous',
    );
  });
});

it('an idle connection is closed before a server would close it', async () => {
  const server = await listen((_, response) => response.end('{}'));
  const request = client({ idleTimeoutMs: 50 });
  await request({ method: 'GET', url: server.origin, signal: soon() });
  await expect.poll(() => server.open).toBe(0);
  await request({ method: 'GET', url: server.origin, signal: soon() });
  expect(server.connections).toBe(2);
});
