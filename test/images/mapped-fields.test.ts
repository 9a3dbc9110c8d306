import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-mapped-'));
  gateway = await startGateway({ yaml, worker: false, environment: { DATA_DIR: directory } });
});
afterAll(async () => {
  await gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

it('a field that the model’s mapping passes on is not treated as misspelt', async () => {
  const account = await gateway.account();
  const generate = (model: string) =>
    account.call('POST', '/v1/images/generations', { body: { model, prompt: 'a', go_fast: true, sede: 7 } });
  expect((await generate('passing')).body).toMatchObject({ status: 'submitted', warnings: ['sede'] });
  expect((await generate('plain')).body.warnings.toSorted()).toEqual(['go_fast', 'sede']);
});

const yaml = `
currency: USD
results: { storage: directory }
channels:
  - id: replicate
    provider: replicate
    base_url: \${SIMULATOR_URL}/replicate/v1
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    models:
      passing: { upstream: a/b, mapping: { fields: { prompt: prompt }, pass: [go_fast], result: output } }
      plain: { upstream: a/b, mapping: { fields: { prompt: prompt }, result: output } }
models:
  - { id: passing, kind: image, expected_seconds: 1, price: { lines: [{ measure: image, price: "0.02" }] } }
  - { id: plain, kind: image, expected_seconds: 1, price: { lines: [{ measure: image, price: "0.02" }] } }
`;
