import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { TestAccount } from '../support/client.ts';

/** A vendor may charge for images that it renders and then rejects. Callers pay nothing, but the ledger has the cost. */

let gateway: TestGateway;
let account: TestAccount;

const yaml = `
currency: USD
channels:
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
    price: { lines: [{ measure: image, price: "0.08" }] }
`;

beforeAll(async () => {
  gateway = await startGateway({ yaml, renderSeconds: 0.2 });
  account = await gateway.account();
});
afterAll(() => gateway.stop());

const prompt = 'a red cube [sim:moderation-in-task]';
const path = '/v1/images/generations';
const generate = (more: object) =>
  account.call('POST', path, { body: { model: 'grok', prompt, n: 2, ...more } });

async function finished(id: string): Promise<object> {
  for (;;) {
    const { body: task } = await account.call('GET', `${path}/${id}?wait=30`);
    if (task.status === 'succeeded' || task.status === 'failed') return task;
  }
}

async function newestEntry(): Promise<object> {
  const { body } = await gateway.admin('GET', `/admin/v1/accounts/${account.id}/ledger?limit=100`);
  return body.data.at(-1);
}

const charged = { kind: 'release', cost: '0.120000', cost_unknown: 0 };

it('of a synchronous request', async () => {
  const before = await account.balance();
  const answer = await generate({});
  expect(answer).toMatchObject({ status: 400, body: { error: { code: 'content_policy_violation' } } });
  expect(await account.balance()).toEqual(before);
  expect(await newestEntry()).toMatchObject(charged);
});

it('of a task', async () => {
  const before = await account.balance();
  const { body: created } = await generate({ async: true });
  expect(await finished(created.id)).toMatchObject({
    status: 'failed',
    error: { code: 'provider_error', class: 'moderation_output' },
  });
  expect(await account.balance()).toEqual(before);
  expect(await newestEntry()).toMatchObject(charged);
});
