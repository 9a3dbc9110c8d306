import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { postForm, type TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { imageYaml, png, sendImages, sendJson, startImageUpstream } from '../images/support.ts';
import type { ImageUpstream } from '../images/support.ts';

let upstream: ImageUpstream;
let gateway: TestGateway;
let account: TestAccount;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'full-storage-'));
  upstream = await startImageUpstream();
  const videoChannel = `  - id: keyed-links
    provider: openrouter
    base_url: ${upstream.url}
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: k }]
    models: { seedance: { upstream: bytedance/seedance-2.0 } }
models:
  - { id: seedance, kind: video, price: { lines: [{ measure: call, price: '0.1' }] } }
`;
  const yaml = imageYaml({ first: upstream.url }).replace(
    'models:\n  - id: gpt',
    `${videoChannel}  - id: gpt`,
  );
  gateway = await startGateway({
    yaml: `${yaml}results: { storage: directory, free_bytes: ${Number.MAX_SAFE_INTEGER} }\n`,
    environment: { DATA_DIR: directory },
  });
  account = await gateway.account();
});
beforeEach(() => void (upstream.calls.length = 0));
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
  await rm(directory, { recursive: true, force: true });
});

const images = '/v1/images/generations';
const prompt = 'a red cube';

it.each([
  [
    'an image as a link, from a channel that answers with data',
    images,
    { model: 'gpt-image', response_format: 'url' },
  ],
  ['such an image as a task', images, { model: 'gpt-image', async: true }],
  ['a video whose links need the key of the channel', '/v1/video/generations', { model: 'seedance' }],
])('refuses %s', async (_, path, body) => {
  const { status, body: answer } = await account.call('POST', path, { body: { prompt, ...body } });
  expect([status, answer.error.code]).toEqual([503, 'service_unavailable']);
  expect(upstream.calls).toEqual([]);
  expect((await account.balance()).held).toBe('0.000000');
});

it('refuses a file', async () => {
  const form = new FormData();
  form.append('file', new File([Uint8Array.from(png(3, 2))], 'cube.png'));
  const { status, body } = await postForm(gateway.url, '/v1/files', { key: account.key, form });
  expect([status, body.error.code]).toEqual([503, 'service_unavailable']);
});

it('serves requests that need no room', async () => {
  upstream.answer = sendImages;
  const data = { model: 'gpt-image', prompt, response_format: 'b64_json' };
  expect((await account.call('POST', images, { body: data })).status).toBe(200);
  const url = 'https://files.example/0.png';
  upstream.answer = (_, response) => sendJson(response, 200, { created: 1, data: [{ url }] });
  const link = { model: 'dall-e', prompt, response_format: 'url' };
  expect((await account.call('POST', images, { body: link })).body.data).toMatchObject([{ url }]);
});
