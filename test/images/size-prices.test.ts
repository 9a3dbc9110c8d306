import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ServerResponse } from 'node:http';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { TestAccount } from '../support/client.ts';
import { pixel, png, sendJson, startImageUpstream } from './support.ts';
import type { ImageUpstream, UpstreamCall } from './support.ts';

const yaml = (url: string) => `
currency: USD
results: { storage: directory }
channels:
  - id: data
    provider: google
    base_url: ${url}
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: k }]
    models: { nano: { upstream: gemini-3-pro-image } }
  - id: links
    provider: openai
    base_url: ${url}
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: k }]
    models: { linked: { upstream: some-renderer, facts: { per_call: 10 } } }
models:
  - id: nano
    kind: image
    sizes: [1K, 2K, 4K, 1024x1024, 2048x2048]
    price:
      lines:
        - { measure: image, when: { size: [4K] }, price: '0.151' }
        - { measure: image, when: { size: [2K, 2048x2048] }, price: '0.101' }
        - { measure: image, price: '0.0336' }
  - id: linked
    kind: image
    n: { max: 4 }
    sizes: ['1024x1024', '2048x2048']
    price:
      lines:
        - { measure: image, when: { size: [2048x2048] }, price: '0.10' }
        - { measure: image, when: { size: [1024x1024] }, price: '0.04' }
`;

let upstream: ImageUpstream;
let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  upstream = await startImageUpstream();
  gateway = await startGateway({ yaml: yaml(upstream.url) });
});
beforeEach(async () => {
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

const ask = (body: Record<string, unknown>) =>
  account.call('POST', '/v1/images/generations', { body: { prompt: 'x', ...body } });

function answerData(picture: Buffer): void {
  const inlineData = { mimeType: 'image/png', data: picture.toString('base64') };
  upstream.answer = (_call, response) =>
    sendJson(response, 200, { candidates: [{ content: { parts: [{ inlineData }] } }] });
}

it('charges the size that its upstream received, however the caller spelt it', async () => {
  answerData(pixel);
  const made = [];
  for (const size of ['4K', '4096x4096', '2048x2048', '2048X2048', '2040x2048', '1000x1000']) {
    const { headers } = await ask({ model: 'nano', size });
    const asked = upstream.calls.at(-1)?.json['generationConfig'].imageConfig.imageSize;
    made.push([asked, headers['x-mediary-cost']]);
  }
  expect(made).toEqual([
    ['4K', '0.151000'],
    ['4K', '0.151000'],
    ['2K', '0.101000'],
    ['2K', '0.101000'],
    ['2K', '0.101000'],
    ['1K', '0.033600'],
  ]);
});

it.each([
  ['1024x1024', png(1024, 1024), '0.033600'],
  ['of the named pixels', png(2048, 2048), '0.101000'],
  ['of about the pixels of 2K', png(2752, 1536), '0.101000'],
  ['of about the pixels of 4K', png(5504, 3072), '0.151000'],
])('an image %s is charged by its own pixels if the request names no size', async (_, picture, cost) => {
  answerData(picture);
  const { headers } = await ask({ model: 'nano' });
  expect(headers['x-mediary-cost']).toBe(cost);
});

describe('linked images of two sizes that the response does not report', () => {
  const files = [png(1024, 1024), png(2048, 2048)];
  const reads: string[] = [];

  function answerLinks(call: UpstreamCall, response: ServerResponse): void {
    const number = /file-(\d)/.exec(call.path)?.[1];
    if (number !== undefined) {
      reads.push(number);
      return void response.end(files[Number(number)]);
    }
    const data = files.map((_, index) => ({ url: new URL(`/file-${index}.png`, upstream.url).href }));
    sendJson(response, 200, { created: 1, data });
  }

  beforeEach(() => {
    reads.length = 0;
    upstream.answer = answerLinks;
  });

  it.each([
    ['as links', {}],
    ['as data', { response_format: 'b64_json' }],
  ])('are each priced by their own pixels %s', async (_, form) => {
    const { status, headers } = await ask({ model: 'linked', n: 2, ...form });
    expect([status, headers['x-mediary-cost']]).toEqual([200, '0.140000']);
  });

  it('are not read if the request names the size', async () => {
    const { headers } = await ask({ model: 'linked', n: 2, size: '1024x1024' });
    expect([headers['x-mediary-cost'], reads]).toEqual(['0.080000', []]);
  });

  it('are measured from our copies if the request is a task', async () => {
    const { body } = await ask({ model: 'linked', n: 2, async: true });
    const path = `/v1/images/generations/${body.id}`;
    let ended = body;
    while (ended.status !== 'succeeded' && ended.status !== 'failed')
      ({ body: ended } = await account.call('GET', `${path}?wait=5`));
    expect(ended.status).toBe('succeeded');
    const { body: record } = await gateway.admin('GET', `/tasks/${body.id}`);
    expect(record).toMatchObject({ charge: '0.140000' });
  });
});
