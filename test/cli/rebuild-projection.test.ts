import { createTaskClient } from '../../src/temporal/task-client.ts';
import { expect, it } from 'vitest';
import { rebuildProjection } from '../../src/cli/rebuild-projection.ts';
import { listTaskWorkflows } from '../../src/cli/task-workflows.ts';
import { createTaskStore } from '../../src/store/tasks.ts';
import { startGateway } from '../support/gateway.ts';

it('projections that are gone come back as they were; those that are there stay', async () => {
  const gateway = await startGateway();
  const { core } = gateway;
  const rebuild = () =>
    rebuildProjection({
      workflows: listTaskWorkflows(core.client, core.environment.TASK_QUEUE_PREFIX),
      tasksAt: (at) => createTaskStore(core.mongo.db, () => at),
      attempts: core.stores.attempts,
      ledger: core.ledger,
      channels: core.channels,
    });
  try {
    const account = await gateway.account({ credit: '5' });
    const succeeded = await account.finished((await account.create()).body.id);
    const expired = await account.create({
      prompt: 'endless [sim:never-starts]',
      metadata: { execution_expires_after: 2 },
    });
    const failed = await account.finished(expired.body.id);
    const running = await account.create({ prompt: 'slow [sim:render=8][sim:callback-never]' });
    // Its creator abandoned it before the start arrived: a workflow without a task.
    const { client, environment, now } = core;
    const port = createTaskClient({ client, queuePrefix: environment.TASK_QUEUE_PREFIX, now });
    await port.start({
      task: 'task_givenup000000000000000000',
      account: account.id,
      key: 'key_1',
      kind: 'video',
      model: 'seedance',
      candidates: [{ channel: 'ark', credential: 'a' }],
      hold: '1',
      basis: { price: { unit: 'call', minimum: '0', rules: [{ price: '1' }] }, facts: {}, version: 'v' },
      currency: 'USD',
      createdAt: now(),
      deadlineAt: now() + 60_000,
      expectedSeconds: 1,
      output: '',
      hasCallback: false,
    });
    expect(await client.workflow.getHandle('task_givenup000000000000000000').result()).toEqual({
      status: 'refused',
      refusal: 'service_unavailable',
    });
    // Visibility is a little behind.
    await expect.poll(rebuild).toMatchObject({ present: 3, refused: 1 });

    await core.mongo.db.collection('tasks').deleteMany({});
    expect(await rebuild()).toEqual({ present: 0, rebuilt: 3, withoutResult: 0, refused: 1 });
    expect(await rebuild()).toEqual({ present: 3, rebuilt: 0, withoutResult: 0, refused: 1 });

    const again = async (id: string) => (await account.call('GET', `/v1/videos/generations/${id}`)).body;
    // Times of the end are the ledger's, and the trace id is not kept elsewhere.
    const lost = ['updated_at', 'completed_at', 'trace_id'];
    const timeless = (task: Record<string, unknown>) =>
      Object.fromEntries(Object.entries(task).filter(([name]) => !lost.includes(name)));
    expect(timeless(await again(succeeded['id']))).toMatchObject({
      ...timeless(succeeded),
      // Signed anew by the upstream.
      data: [expect.objectContaining({ url: expect.stringMatching(/^http/) })],
      video_url: expect.stringMatching(/^http/),
    });
    expect(await again(failed['id'])).toMatchObject({ status: 'failed', error: { code: 'task_expired' } });
    // The one in flight continues as if nothing had happened.
    expect(await account.finished(running.body.id)).toMatchObject({ status: 'succeeded' });
  } finally {
    await gateway.stop();
  }
});
