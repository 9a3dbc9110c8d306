import { afterAll, beforeAll, expect, it } from 'vitest';
import { actOn, type TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';

let gateway: TestGateway;
let account: TestAccount;
beforeAll(async () => {
  gateway = await startGateway();
  account = await gateway.account();
});
afterAll(() => gateway.stop());

it('polls that the upstream rejects are shown everywhere until one succeeds', async () => {
  const prompt = 'refused polls [sim:never-starts][sim:callback-never]';
  gateway.simulator.addFault({ match: { prompt: 'refused polls' }, fault: 'poll:401' });
  const { body } = await account.create({ prompt });
  const shown = async () => (await gateway.admin('GET', `/admin/v1/tasks/${body.id}`)).body;
  await waitUntil('an operator is asked', async () => (await shown()).needs_attention === 'poll_failing');

  const listed = await gateway.admin('GET', '/admin/v1/tasks?attention=poll_failing');
  expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([body.id]);
  const seen = await account.call('GET', `/v1/videos/generations/${body.id}`);
  expect(seen.body.message).toBe(
    'The upstream is not reporting on the task at the moment. Polling continues.',
  );

  const handle = gateway.core.client.workflow.getHandle(body.id);
  const failure = async () =>
    (await handle.describe()).raw.pendingActivities?.map(({ lastFailure }) => lastFailure?.message).join('');
  await expect
    .poll(failure)
    .toMatch(/^submitted, \d+ polls?, the last \d+ failed \(401 \S+\), next in \d+ s$/);

  // Poll, because the next attempt has no scheduled time while the current one is running.
  await expect
    .poll(async () => (await shown()).waiting)
    .toMatchObject({
      activity: 'submit',
      failed_polls: expect.any(Number),
      last_error: expect.stringMatching(/^401 /),
      next_at: expect.any(Number),
      last_poll_at: expect.any(Number),
    });

  const retry = { action: 'retry_now', reason: 'the key is back' };
  const retried = async () =>
    (await gateway.admin('POST', `/admin/v1/tasks/${body.id}/actions`, retry)).body.result.did.task;
  await expect
    .poll(retried)
    .toMatch(
      /^An attempt was made just now: submitted, \d+ polls, the last \d+ failed \(401 \S+\)(?:, next in \d+ s)?\.$/,
    );

  gateway.simulator.clearFaults();
  await waitUntil('nobody is asked any more', async () => {
    await gateway.admin('POST', `/admin/v1/tasks/${body.id}/actions`, retry);
    return (await shown()).needs_attention === null;
  });
  const fail = { action: 'fail', reason: 'the test ends' };
  expect((await actOn(gateway.admin, body.id, fail)).status).toBe(200);
  const actions: { action: string; by: string }[] = (await shown()).actions;
  expect(actions.at(-1)).toMatchObject({ action: 'fail', reason: 'the test ends' });
});
