import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { send } from '../support/client.ts';
import { adminToken, useHttpWorld, videoBody } from '../support/http-world.ts';

const world = useHttpWorld('http_protocol');

describe('request ids', () => {
  it('every response has its own', async () => {
    const [first, second] = await Promise.all([world.call('GET', '/healthz'), world.call('GET', '/nowhere')]);
    expect(first.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(second.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
  });

  it.each(['my-id', 'a b', 'x'.repeat(128), '~!"#$%&()'])('the caller’s own is echoed: %s', async (id) => {
    const { headers } = await world.call('GET', '/healthz', { headers: { 'x-request-id': id } });
    expect(headers['x-request-id']).toBe(id);
  });

  it.each(['', 'x'.repeat(129), 'caf\u00e9', 'tab\there'])('anything else is replaced: %j', async (id) => {
    const { headers } = await world.call('GET', '/healthz', { headers: { 'x-request-id': id } });
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('an unexpected error is opaque, and logged with the id', async () => {
    const node = await world.startNode({ createTask: () => Promise.reject(new Error('secret detail')) });
    const account = await world.newAccount();
    const answer = await node.call('POST', '/v1/videos/generations', {
      key: account.key,
      body: videoBody,
      headers: { 'x-request-id': 'trace-me' },
    });
    expect(answer.status).toBe(500);
    expect(answer.body).toEqual({
      error: {
        message: 'Something went wrong on our side.',
        type: 'api_error',
        param: '',
        code: 'internal_error',
      },
    });
    const logged = world.logLines.filter((line) => line.includes('trace-me'));
    expect(logged.some((line) => line.includes('secret detail'))).toBe(true);
  });

  it('an outage of the database is a 503 that says when to retry', async () => {
    const outage = Object.assign(new Error('no primary'), { name: 'MongoServerSelectionError' });
    const node = await world.startNode({ createTask: () => Promise.reject(outage) });
    const account = await world.newAccount();
    const answer = await node.call('POST', '/v1/videos/generations', { key: account.key, body: videoBody });
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBe('5');
    expect(answer.body.error.code).toBe('service_unavailable');
  });
});

describe('routing', () => {
  it('a path with a wrong letter gets the nearest route as a suggestion', async () => {
    const answer = await world.call('POST', '/v1/videos/generation');
    expect(answer.body.error.message).toBe(
      'No such route. Did you mean /v1/videos/generations? GET /openapi.json lists all routes.',
    );
  });

  it.each([
    '/v1',
    '/v1/nothing',
    '/v2/videos/generations',
    '//v1/balance',
    '/admin',
    '/%zz',
    '/v1/videos/generations/a/b/c',
    '/V1/models',
    '/v1/Videos/generations',
    '/HEALTHZ',
  ])('GET %s is route_not_found', async (path) => {
    const answer = await world.call('GET', path);
    expect(answer.status).toBe(404);
    expect(answer.body.error).toMatchObject({
      type: 'invalid_request_error',
      param: '',
      code: 'route_not_found',
    });
  });

  it.each([
    ['DELETE', '/v1/videos/generations', ['HEAD', 'GET', 'POST']],
    ['PUT', '/v1/video/generations/task_x', ['HEAD', 'GET']],
    ['GET', '/v1/videos/generations/task_x/cancel', ['POST']],
    ['POST', '/v1/balance', ['HEAD', 'GET']],
    ['OPTIONS', '/v1/models', ['HEAD', 'GET']],
    ['OPTIONS', '/v1/videos/generations/estimate', ['POST']],
    ['PATCH', '/admin/v1/keys/x', ['DELETE']],
  ])('%s %s is 405 with allow', async (method, path, allow) => {
    const answer = await world.call(method, path);
    expect(answer.status).toBe(405);
    expect(answer.body.error.code).toBe('method_not_allowed');
    expect(answer.headers.allow?.split(', ').toSorted()).toEqual(allow.toSorted());
  });

  it('the alias is the same route, and no redirect', async () => {
    const { call } = await world.newAccount();
    const [plural, singular] = await Promise.all([
      call('GET', '/v1/videos/generations/task_0000000000000000000000'),
      call('GET', '/v1/video/generations/task_0000000000000000000000'),
    ]);
    expect(plural.text).toBe(singular.text);
    expect(singular.body.error.code).toBe('task_not_found');
  });

  it('Host has no effect', async () => {
    const answer = await world.call('GET', '/healthz', { headers: { host: 'evil.example' } });
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain('evil');
  });

  it('the document is one text with one ETag, and an unchanged one is a 304', async () => {
    const first = await world.call('GET', '/openapi.json');
    const { etag = '' } = first.headers;
    expect([first.status, etag]).toEqual([200, expect.stringMatching(/^".+"$/)]);
    const again = await world.call('GET', '/openapi.json', { headers: { 'if-none-match': etag } });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  it('HEAD responds like GET without a body', async () => {
    const answer = await world.call('HEAD', '/healthz');
    expect([answer.status, answer.text]).toEqual([200, '']);
  });
});

describe('bodies', () => {
  const post = async (options: Parameters<typeof world.call>[2]) => {
    const { call } = await world.newAccount();
    return call('POST', '/v1/videos/generations', options);
  };

  it('that are not UTF-8 are rejected instead of converted', async () => {
    const latin1 = Buffer.from('{"model":"clip","prompt":"\xe9"}', 'latin1');
    const answer = await post({ body: latin1, headers: { 'content-type': 'application/json' } });
    const account = Buffer.from('{"id":"of-latin1","name":"\xe9"}', 'latin1');
    const { url } = world;
    const admin = await send(url, 'POST', '/admin/v1/accounts', {
      key: adminToken,
      body: account,
      headers: { 'content-type': 'application/json' },
    });
    for (const { status, body } of [answer, admin]) {
      expect([status, body.error]).toEqual([
        400,
        expect.objectContaining({ code: 'invalid_json', message: 'The body is not valid UTF-8.' }),
      ]);
    }
  });

  it.each([
    '{',
    '{"model": "clip",}',
    'null',
    '"text"',
    '[1]',
    '5',
    '\u0000',
    '{"__proto__": {"a": 1}}',
    '{} trailing',
  ])('invalid_json: %j', async (body) => {
    const answer = await post({ body });
    expect([answer.status, answer.body.error.code, answer.body.error.type]).toEqual([
      400,
      'invalid_json',
      'invalid_request_error',
    ]);
  });

  it('invalid_json says where', async () => {
    const { body } = await post({ body: '{\n  "model": "clip"\n  "prompt": "a"\n}' });
    expect(body.error.message).toBe('The body is not valid JSON at line 3, column 3.');
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    '',
  ])('unsupported_media_type: %j', async (type) => {
    const answer = await post({ body: '{}', headers: { 'content-type': type } });
    expect([answer.status, answer.body.error.code]).toEqual([415, 'unsupported_media_type']);
  });

  it.each(['application/json; charset=utf-8', 'Application/JSON'])('is JSON: %s', async (type) => {
    const answer = await post({ body: JSON.stringify(videoBody), headers: { 'content-type': type } });
    expect(answer.status).toBe(200);
  });

  it('a missing body is treated as empty', async () => {
    const answer = await post({});
    expect(answer.body.error).toMatchObject({ code: 'missing_parameter', param: 'model' });
  });

  it.each(['gzip', 'br', 'deflate', 'zstd', 'identity, gzip', 'x'])(
    'content-encoding %s is 415, unread',
    async (encoding) => {
      const answer = await post({ body: gzipSync('{}'), headers: { 'content-encoding': encoding } });
      expect([answer.status, answer.body.error.code]).toEqual([415, 'unsupported_media_type']);
    },
  );

  it('content-encoding identity is treated as none', async () => {
    const answer = await post({ body: videoBody, headers: { 'content-encoding': 'identity' } });
    expect(answer.status).toBe(200);
  });

  it('1 MiB is accepted, but not one byte more', async () => {
    const exact = (bytes: number) => {
      const frame = JSON.stringify({ ...videoBody, unknown: '' });
      return JSON.stringify({ ...videoBody, unknown: 'x'.repeat(bytes - frame.length) });
    };
    const taken = await post({ body: exact(1024 * 1024) });
    const refused = await post({ body: exact(1024 * 1024 + 1) });
    expect(taken.status).toBe(200);
    expect([refused.status, refused.body.error.code]).toEqual([413, 'request_too_large']);
  });

  it('the limit applies to a body that does not announce its length', async () => {
    const { key } = await world.newAccount();
    const { hostname, port } = new URL(world.url);
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString();
        if (text.includes('request_too_large')) {
          socket.destroy();
          resolve(text);
        }
      });
      socket.on('error', reject);
      socket.write(
        `POST /v1/videos/generations HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
      );
      const piece = 'x'.repeat(64 * 1024);
      for (let sent = 0; sent < 20; sent += 1) socket.write(`10000\r\n${piece}\r\n`);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('a key that is not valid is rejected before the body is read', async () => {
    const { hostname, port } = new URL(world.url);
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      socket.once('data', (chunk) => {
        socket.destroy();
        resolve(chunk.toString());
      });
      socket.on('error', reject);
      socket.write(
        'POST /v1/videos/generations HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n',
      );
    });
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('the connection serves the next request after a rejection', async () => {
    const { Agent, request } = await import('node:http');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const statuses: (number | undefined)[] = [];
    for (const size of [2 * 1024 * 1024, 10, 2 * 1024 * 1024, 10]) {
      statuses.push(
        await new Promise((resolve, reject) => {
          const call = request(
            `${world.url}/v1/videos/generations`,
            {
              method: 'POST',
              agent,
              headers: { 'content-type': 'application/json', authorization: 'Bearer no' },
            },
            (response) => {
              response.resume();
              response.on('end', () => resolve(response.statusCode));
            },
          );
          call.on('error', reject);
          call.end('x'.repeat(size));
        }),
      );
    }
    agent.destroy();
    expect(statuses).toEqual([401, 401, 401, 401]);
  });
});

function answerTo(bytes: string): Promise<string> {
  const { hostname, port } = new URL(world.url);
  return new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
    socket.write(bytes);
  });
}

it('a request that is not HTTP gets the common error body', async () => {
  const answer = await answerTo('NOT HTTP\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toMatch(/x-request-id: \S+/);
  expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({
    error: { type: 'invalid_request_error', param: '', code: '' },
  });
});

describe('the address of a request', () => {
  const get = (address: string) =>
    answerTo(`GET ${address} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-request-id: unreadable\r\n\r\n`);

  it.each(['http://[::1', 'http://%ff@x/healthz', '//a@[::1#', 'http://[::1/v1/balance?a=b'])(
    'that cannot be read is a 400 in the common error body, and nothing in the log: %s',
    async (address) => {
      const before = world.logLines.length;
      const answer = await get(address);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '').error).toMatchObject({
        code: 'invalid_parameter',
      });
      expect(world.logLines.slice(before).join()).not.toContain('stack');
    },
  );

  it('may name a host, which is ignored', async () => {
    expect(await get('http://elsewhere.example/healthz')).toMatch(/^HTTP\/1\.1 200 /);
  });
});

it('headers beyond the limit are a 431 with the common body', async () => {
  const answer = await world.call('GET', '/healthz', { headers: { 'x-large': 'x'.repeat(20_000) } });
  expect(answer.status).toBe(431);
  expect(answer.body.error.type).toBe('invalid_request_error');
  expect(answer.body.error.message).toContain('16 KiB');
  const { body } = await world.call('GET', '/openapi.json');
  expect(body.paths['/healthz'].get.responses['431'].description).toContain('16 KiB');
});
