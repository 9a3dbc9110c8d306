import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { TestAccount } from '../support/client.ts';
import { imageYaml, pixel, png, sendImages, sendJson, startImageUpstream } from './support.ts';
import type { ImageUpstream, UpstreamCall } from './support.ts';

let upstream: ImageUpstream;
let gateway: TestGateway;
let account: TestAccount;
let directory: string;

function useGateway(more = '', environment: Record<string, string> = {}): void {
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'result-forms-'));
    upstream = await startImageUpstream();
    const yaml = imageYaml({ first: upstream.url }) + more;
    gateway = await startGateway({
      yaml,
      worker: false,
      environment: { DATA_DIR: directory, ...environment },
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.close();
    await rm(directory, { recursive: true, force: true });
  });
  beforeEach(async () => {
    account = await gateway.account();
    upstream.answer = sendImages;
    upstream.calls.length = 0;
  });
}

const ask = (more: Record<string, unknown>) =>
  account.call('POST', '/v1/images/generations', { body: { prompt: 'a red cube', ...more } });

const large = png(1, 1, 200_001);

function answerLinks(...files: readonly (Buffer | number)[]): void {
  answerLinksWith({}, ...files);
}

function answerLinksWith(more: object, ...files: readonly (Buffer | number)[]): void {
  upstream.answer = ({ path }: UpstreamCall, response: ServerResponse) => {
    const number = /file-(\d+)/.exec(path)?.[1];
    if (number === undefined) {
      const data = files.map((_, index) => ({ url: new URL(`/file-${index}`, upstream.url).href }));
      return sendJson(response, 200, { created: 1, data, ...more });
    }
    const file = files[Number(number)];
    if (typeof file === 'object') response.end(file);
    else response.writeHead(file ?? 404).end();
  };
}

const asLinks = { model: 'gpt-image', response_format: 'url', n: 2 };

describe('if results are not stored', () => {
  useGateway();

  describe('b64_json from an upstream that responds with links', () => {
    const form = { model: 'dall-e', response_format: 'b64_json' };
    it('contains the file', async () => {
      answerLinks(large);
      const { status, body } = await ask(form);
      expect([status, body.data]).toEqual([200, [{ b64_json: large.toString('base64') }]]);
      expect(await account.balance()).toMatchObject({ available: '99.920000', held: '0.000000' });
    });

    it.each([
      ['a dead link', 404],
      ['a page', Buffer.from('<html>there is no such file</html>')],
    ])('%s is a failure, and costs nothing', async (_, file) => {
      answerLinks(file);
      const { status, body, headers } = await ask(form);
      expect([status, body.error.code, headers['x-should-retry']]).toEqual([500, 'provider_error', 'false']);
      expect(await account.balance()).toMatchObject({ available: '100.000000', held: '0.000000' });
    });

    it('the images that can be fetched are delivered and charged', async () => {
      answerLinks(pixel, 404);
      const { body } = await ask({ ...form, model: 'gpt-image', n: 2 });
      expect(body.data).toEqual([{ b64_json: pixel.toString('base64') }]);
      expect(await account.balance()).toMatchObject({ available: '99.960000' });
    });

    it('tokens are charged in proportion to the images that arrived, rounded up', async () => {
      const usage = { input_tokens: 0, output_tokens: 4_001, total_tokens: 4_001 };
      answerLinksWith({ usage }, pixel, 404, 404, 404);
      const { body, headers } = await ask({ ...form, model: 'by-token', size: '1024x1024', n: 4 });
      expect(body.data).toHaveLength(1);
      expect(headers['x-mediary-cost']).toBe('0.040040');
      expect(await account.balance()).toMatchObject({ available: '99.959960', held: '0.000000' });
    });
  });

  it('url from an upstream that responds with data is refused before anything is sent', async () => {
    const { status, body } = await ask(asLinks);
    expect([status, body.error.code, body.error.param]).toEqual([
      400,
      'unsupported_parameter',
      'response_format',
    ]);
    expect(upstream.calls).toEqual([]);
    expect((await ask({ ...asLinks, response_format: undefined })).status).toBe(200);
  });
});

describe('with little memory', () => {
  // Images may use half of this memory. One account may use three quarters of that half, which is 54 MiB.
  useGateway('', { BODIES_BYTES_MAX: String(144 * 1024 * 1024) });

  it('b64_json without enough memory is refused before anything is rendered', async () => {
    const form = { model: 'dall-e', response_format: 'b64_json' };
    const stalled: ServerResponse[] = [];
    upstream.answer = ({ path }, response) => {
      if (path === '/stalled') {
        stalled.push(response);
        response.write(png(1, 1, 36 * 1024 * 1024));
      } else if (path === '/file') response.end(pixel);
      else {
        const file = !isAsked ? '/stalled' : '/file';
        isAsked = true;
        sendJson(response, 200, { created: 1, data: [{ url: new URL(file, upstream.url).href }] });
      }
    };
    let isAsked = false;
    const first = ask(form);
    let calls = 0;
    const refused = async () => {
      calls = upstream.calls.length;
      return (await ask(form)).status;
    };
    await expect.poll(() => stalled).toHaveLength(1);
    await expect.poll(refused).toBe(429);
    expect(upstream.calls).toHaveLength(calls);
    expect(await account.balance()).toMatchObject({ held: '0.080000' });
    expect((await ask({ model: 'dall-e' })).status).toBe(200);
    stalled[0]?.end();
    expect((await first).status).toBe(200);
  });
});

describe('url from an upstream that responds with data', () => {
  useGateway('results: { storage: directory }\n');

  it('contains links to our own copies', async () => {
    const { status, body } = await ask(asLinks);
    expect([status, body.data]).toEqual([
      200,
      Array.from({ length: 2 }, () => ({ url: expect.any(String), expires_at: expect.any(Number) })),
    ]);
    for (const { url } of body.data) {
      const { pathname, search } = new URL(url);
      const file = await fetch(gateway.url + pathname + search);
      expect(file.headers.get('content-type')).toBe('image/png');
      expect(Buffer.from(await file.arrayBuffer()).equals(pixel)).toBe(true);
    }
    const copies = await gateway.core.mongo.db.collection('result_copies').find({}).toArray();
    expect(copies).toMatchObject([{ state: 'stored', names: ['0.png', '1.png'] }]);
  });
});
