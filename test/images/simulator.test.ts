import { afterAll, beforeAll, expect, it } from 'vitest';
import { inspectImage } from '../../src/images/inspect-image.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { TestAccount } from '../support/client.ts';
import { png } from './support.ts';

let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  gateway = await startGateway({ worker: false, yaml, renderSeconds: 0.2 });
  account = await gateway.account();
});
afterAll(() => gateway.stop());

const sharp = png(64, 64);

it('OpenAI: generate and edit, base64 of a PNG of the requested size', async () => {
  const body = { model: 'gpt-image', prompt: 'a red cube', size: '1024x1536' };
  const made = await account.call('POST', '/v1/images/generations', { body: { ...body, n: 2 } });
  expect([made.status, made.body.data.length]).toEqual([200, 2]);
  for (const { b64_json } of made.body.data) {
    expect(inspectImage(Buffer.from(b64_json, 'base64'))).toMatchObject({ width: 1024, height: 1536 });
  }
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) form.append(name, value);
  form.append('image[]', new File([new Uint8Array(sharp)], 'a.png'));
  form.append('image[]', new File([new Uint8Array(sharp)], 'b.png'));
  const edited = await fetch(`${gateway.url}/v1/images/edits`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.key}` },
    body: form,
  });
  expect(edited.status).toBe(200);
  expect(await edited.json()).toMatchObject({ data: [{ b64_json: expect.any(String) }] });
});

it('Seedream: a link that works, and images of its own size', async () => {
  const body = { model: 'seedream', prompt: 'a red cube', size: '1024x1024', n: 2 };
  const made = await account.call('POST', '/v1/images/generations', { body });
  expect(made.status).toBe(200);
  expect(made.body.data).toHaveLength(2);
  const picture = await fetch(made.body.data[0].url);
  expect(inspectImage(new Uint8Array(await picture.arrayBuffer()))).toMatchObject({
    width: 1024,
    height: 1024,
  });
  const image = `data:image/png;base64,${sharp.toString('base64')}`;
  const edited = await account.call('POST', '/v1/images/edits', {
    body: { ...body, n: 1, image: [image, image] },
  });
  expect(edited.body.data).toHaveLength(1);
});

it('Grok Imagine: what the vendor charges is in the ledger, for operators', async () => {
  const body = { model: 'grok', prompt: 'a red cube', n: 2 };
  const made = await account.call('POST', '/v1/images/generations', { body });
  expect(made.status).toBe(200);
  const { body: ledger } = await gateway.admin('GET', `/admin/v1/accounts/${account.id}/ledger?limit=100`);
  const costed = ledger.data.filter((entry: { cost: unknown }) => entry.cost !== null);
  const amount = expect.stringMatching(/^0\.\d*[1-9]$/);
  expect(costed).toMatchObject([{ kind: 'settle', upstream_cost: { amount, unit: 'USD' }, cost_unknown: 0 }]);
  expect(Number(costed[0].cost)).toBe(Number(costed[0].upstream_cost.amount));
  const { data: _images, ...shown } = made.body;
  expect(JSON.stringify(shown)).not.toContain('USD');
});

const yaml = `
currency: USD
channels:
  - id: openai
    provider: openai
    base_url: \${SIMULATOR_URL}/openai/v1
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    models: { gpt-image: { upstream: gpt-image-1.5 } }
  - id: ark
    provider: ark
    base_url: \${SIMULATOR_URL}/ark/api/v3
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    models: { seedream: { upstream: doubao-seedream-4-0-250828 } }
  - id: xai
    provider: xai
    base_url: \${SIMULATOR_URL}/xai/v1
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    models: { grok: { upstream: grok-imagine-image-2.0 } }
models:
  - id: grok
    kind: image
    n: { max: 4 }
    price: { lines: [{ measure: image, price: "0.02" }] }
  - id: gpt-image
    kind: image
    inputs: { images: { max: 16 } }
    n: { max: 10 }
    price: { lines: [{ measure: million_tokens, price: "40" }] }
  - id: seedream
    kind: image
    inputs: { images: { max: 14 } }
    n: { max: 4 }
    price: { lines: [{ measure: image, price: "0.02" }] }
`;
