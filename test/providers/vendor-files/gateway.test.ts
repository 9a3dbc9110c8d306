import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import type { TestAccount } from '../../support/client.ts';
import { exampleFile, examplesFolder } from './support.ts';
import { vendorFileDialect } from './vendor-file-dialect.ts';

/** The simulator responds as recorded in the fixtures of the example vendor files. */

const vendors = ['ideogram', 'recraft', 'topaz'];
let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  const moreDialects = vendors.map((name) => vendorFileDialect(exampleFile(name)));
  gateway = await startGateway({ yaml: stringify(configuration), moreDialects, renderSeconds: 0.5 });
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.stop();
  rmSync(directory, { recursive: true });
});

const directory = mkdtempSync(join(tmpdir(), 'mediary-vendor-files-'));
const price = (amount: string) => ({ lines: [{ measure: 'image', price: amount }] });
const channel = (vendor: string, model: string, upstream: string) => ({
  id: vendor,
  provider: vendor,
  base_url: `\${SIMULATOR_URL}/${vendor}`,
  private_networks: ['127.0.0.0/8'],
  private_link_networks: ['127.0.0.0/8'],
  credentials: [{ id: 'a', api_key: 'simulated' }],
  models: { [model]: { upstream } },
});
const configuration = {
  currency: 'USD',
  vendors: vendors.map((name) => `${examplesFolder}/${name}.yaml`),
  results: { storage: 'directory', directory },
  channels: [
    channel('ideogram', 'letters', 'ideogram-4-5'),
    channel('recraft', 'drawing', 'recraftv4_1'),
    channel('topaz', 'larger', 'Standard V2'),
  ],
  models: [
    { id: 'letters', kind: 'image', expected_seconds: 1, price: price('0.12') },
    { id: 'drawing', kind: 'image', n: { max: 6 }, price: price('0.05') },
    {
      id: 'larger',
      kind: 'image',
      expected_seconds: 1,
      inputs: { images: { max: 1 } },
      price: price('0.10'),
    },
  ],
};

const path = '/v1/images/generations';

async function ended(id: string): Promise<Record<string, any>> {
  for (;;) {
    const { body: task } = await account.call('GET', `${path}/${id}?wait=5`);
    if (task.status === 'succeeded' || task.status === 'failed') return task;
  }
}

it('the operators’ list of models names the source of the facts in each file', async () => {
  const { body } = await gateway.admin('GET', '/admin/v1/models');
  for (const { channels } of body.data) {
    const [{ channel: name, facts }] = channels;
    const { source, read } = exampleFile(name).about;
    expect([name, facts]).toEqual([name, { source, read }]);
  }
  expect(body.data).toHaveLength(vendors.length);
});

it('Recraft responds synchronously', async () => {
  const body = { model: 'drawing', prompt: 'a red cube', size: '1024x1024' };
  const made = await account.call('POST', path, { body });
  expect(made.body).toMatchObject({ data: [{ url: expect.stringMatching(/^http/) }, expect.anything()] });
  expect(made.status).toBe(200);
});

it('Ideogram renders a job, and its cost is in the ledger', async () => {
  const body = { model: 'letters', prompt: 'a mug', size: '2048x2048', quality: 'medium', async: true };
  const created = await account.call('POST', path, { body });
  expect(created.body).toMatchObject({ id: expect.stringMatching(/^task_/) });
  expect(await ended(created.body.id)).toMatchObject({ status: 'succeeded', charge: '0.120000' });
  const { body: task } = await gateway.admin('GET', `/admin/v1/tasks/${created.body.id}`);
  expect(task).toMatchObject({ upstream_cost: { amount: '0.060000', unit: 'USD' } });
});

it('Topaz accepts an image, and its result is requested and copied', async () => {
  const pixel =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const body = {
    model: 'larger',
    prompt: 'x',
    size: '2048x1024',
    image: `data:image/png;base64,${pixel}`,
    async: true,
  };
  const created = await account.call('POST', '/v1/images/edits', { body });
  expect(created.body).toMatchObject({ id: expect.stringMatching(/^task_/) });
  expect(await ended(created.body.id)).toMatchObject({ status: 'succeeded', charge: '0.100000' });
});

it('a size that the file does not offer is refused before anything is held', async () => {
  const body = { model: 'letters', prompt: 'a mug', size: '1000x1000' };
  const refused = await account.call('POST', path, { body });
  expect(refused.status).toBe(400);
  expect(refused.body.error).toMatchObject({ param: 'size' });
});

it('an invalid key is the channel’s fault, and costs nothing', async () => {
  const body = { model: 'drawing', prompt: 'a red cube [sim:401]' };
  const made = await account.call('POST', path, { body });
  expect(made.status).toBeGreaterThanOrEqual(500);
});
