import { afterAll, beforeAll, expect, it } from 'vitest';
import { actOn, type TestAccount } from '../support/client.ts';
import { startGateway, testYaml, type TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';

const channel = `
  - id: alone
    provider: xai
    base_url: \${SIMULATOR_URL}/xai/v1
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    callbacks: false
    timeouts: { submit_ms: 10000, poll_ms: 10000 }
    models: { alone: { upstream: grok-imagine-video } }
`;
const model = `  - id: alone
    kind: video
    resolutions: [720p]
    ratios: ["16:9"]
    durations: { min: 4, max: 15, default: 5 }
    expected_seconds: 60
    price: { lines: [{ measure: second, price: "0.10" }] }
`;
const yaml = testYaml.replace('\nmodels:', `${channel}models:`) + model;
/**
 * This upstream cannot list jobs. The render times vary so widely that the gateway soon polls it only every half
 * minute.
 */
const renderSeconds = [0.5, 100, 200, 300, 400, 500];

let gateway: TestGateway;
let account: TestAccount;
beforeAll(async () => {
  gateway = await startGateway({ yaml });
  account = await gateway.account();
  const kind = { channel: 'alone', model: 'alone', output: '720p/5' };
  const samples = renderSeconds.map((seconds) => ({ ms: seconds * 1000, at: Date.now() }));
  await gateway.core.stores.renderTimes.add(kind, samples);
  await gateway.core.renders.refresh();
});
afterAll(() => gateway.stop());

const pendingOf = async (id: string) => {
  const { raw } = await gateway.core.client.workflow.getHandle(id).describe();
  return raw.pendingActivities?.[0];
};
const act = (id: string, action: string) => actOn(gateway.admin, id, { action, reason: 'the test asks' });
const started = 2;

async function stayingTask(prompt: string): Promise<string> {
  const { status, body } = await account.create({ model: 'alone', prompt: `${prompt} [sim:render=900]` });
  expect(status).toBe(200);
  await waitUntil('it was asked about', async () => {
    const shown = await account.call('GET', `/v1/videos/generations/${body.id}`);
    return shown.body.status === 'running' && (await pendingOf(body.id))?.state === started;
  });
  return body.id;
}

it('an operator who retries ends the attempt’s wait, and the next attempt polls', async () => {
  const id = await stayingTask('retried');
  const [first, gets] = [await pendingOf(id), gateway.simulator.stats().gets];
  expect((await act(id, 'retry_now')).status).toBe(200);
  await waitUntil('another attempt asks', async () => {
    const isAnother = Number((await pendingOf(id))?.attempt) > Number(first?.attempt);
    return isAnother && gateway.simulator.stats().gets > gets;
  });
  // If the attempt had ended at a heartbeat, it would have been cancelled instead.
  expect((await pendingOf(id))?.lastFailure?.applicationFailureInfo?.type).toBe('StillWaiting');
  await act(id, 'fail');
});

it('an operator who ends the task makes its attempt end', async () => {
  const id = await stayingTask('failed');
  expect((await act(id, 'fail')).status).toBe(200);
  await expect
    .poll(async () => (await gateway.core.stores.wakes.list()).map(({ task }) => task))
    .toContain(id);
});
