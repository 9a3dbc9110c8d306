import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reachedBeforeDeadline } from '../support/before-deadline.ts';
import { actOn, type TestAccount } from '../support/client.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';
import { testYamlWith } from '../support/test-yaml.ts';

const yaml = testYamlWith('unasked', 600);

describe('endings', () => {
  let gateway: TestGateway;
  let account: TestAccount;
  /** This task needs an operator only after a minute, so the other tests run in the meantime. */
  let vanished: string;
  beforeAll(async () => {
    gateway = await startGateway({ yaml });
    account = await gateway.account();
    vanished = (await account.create({ prompt: 'vanished-answer [sim:create:timeout]' })).body.id;
  });
  afterAll(() => gateway.stop());

  const kindsOf = async (task: string) =>
    (await gateway.core.ledger.entriesOfTask(task)).map(({ kind }) => kind);
  /** Long enough to observe the render before it finishes, even if the upstream's clock is two minutes fast. */
  const renderSeconds = 30;
  const rendering = `[sim:render=${renderSeconds}]`;
  const statusIs = (id: string, ...statuses: string[]) =>
    waitUntil(`the task is ${statuses.join(' or ')}`, async () => {
      const { body } = await account.call('GET', `/v1/videos/generations/${id}`);
      return statuses.includes(body.status);
    });

  describe('a failure at the upstream', () => {
    it.each([
      ['render of it was refused', 'refused-later [sim:moderation-in-task]', 'moderation_output'],
      ['prompt was refused', 'refused-now [sim:moderation]', 'moderation_input'],
    ])('is shown in GET and in the callback: %s', async (_, prompt, failure) => {
      const receiver = await startCallbackReceiver();
      const { body } = await account.create({ prompt, metadata: { callback_url: receiver.url } });
      const error = { code: 'provider_error', class: failure };
      expect(await account.finished(body.id)).toMatchObject({ status: 'failed', error });
      await receiver.waitFor(1);
      expect(receiver.received[0]?.body).toMatchObject({ error });
      expect(await kindsOf(body.id)).toEqual(['hold', 'release']);
      const listed = async () => {
        const ids: string[] = [];
        const query = `MediaStatus = "failed" AND MediaFailure = "${failure}"`;
        for await (const { workflowId } of gateway.core.client.workflow.list({ query })) ids.push(workflowId);
        return ids;
      };
      await expect.poll(listed).toContain(body.id);
      await receiver.close();
    });
  });

  describe('the deadline', () => {
    it('fails a task that never finishes, releases its hold and asks the upstream to cancel', async () => {
      const receiver = await startCallbackReceiver();
      let prompt = '';
      const id = await reachedBeforeDeadline(account, {
        seconds: 10,
        body(seconds) {
          prompt = `endless-${seconds}.`;
          return { prompt: `${prompt} [sim:never-starts]`, metadata: { callback_url: receiver.url } };
        },
        isReached: async () => gateway.simulator.tasks(prompt).length > 0,
      });
      const done = await account.finished(id);
      expect(done).toMatchObject({ status: 'failed', error: { code: 'task_expired', class: 'expired' } });
      expect(done['completed_at'] - done['created_at']).toBeGreaterThanOrEqual(10);
      expect(await kindsOf(id)).toEqual(['hold', 'release']);
      expect(gateway.simulator.tasks(prompt)).toMatchObject([{ phase: 'cancelled' }]);
      const called = () => receiver.received.find(({ body }) => body.id === id)?.body;
      await expect.poll(called).toMatchObject({ status: 'failed', error: { code: 'task_expired' } });
      await receiver.close();
    });

    it('accepts a result that exists when it passes', async () => {
      // The first planned poll comes after the deadline, so only the final poll can see the result.
      let prompt = '';
      const id = await reachedBeforeDeadline(account, {
        seconds: 12,
        body(seconds) {
          prompt = `just in time-${seconds}.`;
          return { model: 'unasked', prompt: `${prompt} [sim:render=2][sim:callback-never]` };
        },
        isReached: async () => gateway.simulator.tasks(prompt)[0]?.phase === 'succeeded',
      });
      expect(await account.finished(id)).toMatchObject({ status: 'succeeded' });
      expect(await kindsOf(id)).toEqual(['hold', 'settle']);
    });

    it('costs nothing if the upstream accepted nothing', async () => {
      const created = await account.create({
        prompt: 'throttled-for-ever [sim:create:429]',
        metadata: { execution_expires_after: 4 },
      });
      expect(await account.finished(created.body.id)).toMatchObject({
        status: 'failed',
        error: { code: 'task_expired' },
      });
      expect(gateway.simulator.submissions('throttled-for-ever').creates).toBe(0);
      expect(await kindsOf(created.body.id)).toEqual(['hold', 'release']);
    });
  });

  describe('cancel', () => {
    it('ends a task that was not sent yet at once', async () => {
      const created = await account.create({ prompt: 'held back [sim:create:429]' });
      const cancelled = await account.call('POST', `/v1/videos/generations/${created.body.id}/cancel`);
      expect(cancelled.status).toBe(200);
      expect(cancelled.body).toMatchObject({ status: 'failed', error: { code: 'task_cancelled' } });
      expect(await kindsOf(created.body.id)).toEqual(['hold', 'release']);
    });

    it('asks the upstream, and ends a job that is still queued there', async () => {
      const created = await account.create({ prompt: 'queued [sim:never-starts]' });
      await statusIs(created.body.id, 'submitted');
      const cancelled = await account.call('POST', `/v1/videos/generations/${created.body.id}/cancel`);
      expect(cancelled.status).toBe(200);
      expect(cancelled.body).toMatchObject({ status: 'failed', error: { code: 'task_cancelled' } });
      expect(await kindsOf(created.body.id)).toEqual(['hold', 'release']);
    });

    it('returns 409 for a job that is running and billed, which continues to its result', async () => {
      const created = await account.create({ prompt: `too late ${rendering}` });
      await statusIs(created.body.id, 'running');
      const cancelled = await account.call('POST', `/v1/videos/generations/${created.body.id}/cancel`);
      expect(cancelled.status).toBe(409);
      expect(cancelled.body.error.code).toBe('task_not_cancellable');
      gateway.simulator.advance(renderSeconds);
      expect(await account.finished(created.body.id)).toMatchObject({ status: 'succeeded' });
    });

    it('returns 409 for a task that has ended and 404 for one of another account', async () => {
      const created = await account.create();
      await account.finished(created.body.id);
      expect((await account.call('POST', `/v1/videos/generations/${created.body.id}/cancel`)).status).toBe(
        409,
      );
      const stranger = await gateway.account();
      expect((await stranger.call('POST', `/v1/videos/generations/${created.body.id}/cancel`)).status).toBe(
        404,
      );
    });

    it('from the Temporal UI has the same effect: the hold is released', async () => {
      const created = await account.create({ prompt: 'cancelled in the UI [sim:never-starts]' });
      await statusIs(created.body.id, 'submitted');
      const { client } = gateway.core;
      const { namespace } = client.options;
      await client.workflowService.requestCancelWorkflowExecution({
        namespace,
        workflowExecution: { workflowId: created.body.id },
        identity: 'temporal-cli:anna@desk',
        reason: 'a wrong model',
      });
      expect(await account.finished(created.body.id)).toMatchObject({
        status: 'failed',
        error: { code: 'task_cancelled' },
      });
      expect(await kindsOf(created.body.id)).toEqual(['hold', 'release']);
      const by = { by: 'temporal:temporal-cli:anna@desk', action: 'cancel', reason: 'a wrong model' };
      expect((await gateway.admin('GET', `/audit?task=${created.body.id}`)).body.data).toMatchObject([by]);
      expect((await gateway.admin('GET', `/tasks/${created.body.id}`)).body.actions).toMatchObject([by]);
    });
  });

  describe('a response that was lost', () => {
    it.each(['accepted-then-silent', 'accepted-500', 'accepted-504', 'malformed'])(
      '(%s) is found again by its marker',
      async (fault) => {
        const prompt = `lost-${fault} [sim:create:${fault}]`;
        const created = await account.create({ prompt });
        expect(await account.finished(created.body.id)).toMatchObject({ status: 'succeeded' });
        expect(gateway.simulator.submissions(`lost-${fault}`)).toEqual({ submits: 1, creates: 1 });
      },
    );

    it('waits for an operator if the upstream does not show the job, and is never resubmitted automatically', async () => {
      await waitUntil('the task asks for an operator', async () => {
        const { body } = await gateway.admin('GET', '/admin/v1/tasks?needs_attention=true');
        return body.data.some((task: { id: string }) => task.id === vanished);
      });
      expect(gateway.simulator.submissions('vanished-answer').submits).toBe(1);
      const refused = await account.call('POST', `/v1/videos/generations/${vanished}/cancel`);
      expect(refused.status).toBe(409);
      expect(await kindsOf(vanished)).toEqual(['hold']);
      const action = { action: 'fail', reason: 'not in the console' };
      const answer = await actOn(gateway.admin, vanished, action);
      expect(answer.status).toBe(200);
      expect(await account.finished(vanished)).toMatchObject({
        status: 'failed',
        error: { code: 'internal_error' },
      });
      expect(await kindsOf(vanished)).toEqual(['hold', 'release']);
      const { body } = await gateway.admin('GET', `/admin/v1/tasks/${vanished}`);
      expect(JSON.stringify(body)).toContain('not in the console');
    });
  });

  describe('a ledger that was closed before, as after a reset', () => {
    const endOf = async (id: string) => {
      const handle = gateway.core.client.workflow.getHandle(id);
      const result = await handle.result();
      const { searchAttributes } = await handle.describe();
      return { result, shown: searchAttributes['MediaStatus'] };
    };

    it('and has charged the task: it succeeded, even if it is failed or cancelled then', async () => {
      for (const act of ['fail', 'cancel'] as const) {
        const { id } = (await account.create({ prompt: 'charged before [sim:never-starts]' })).body;
        await statusIs(id, 'submitted');
        const of = { account: account.id, task: id, held: 762_300n };
        await gateway.core.ledger.settle({ ...of, amount: 500_000n, basis: '{}' });
        const asked = { action: act, reason: 'a test' };
        const { status, body } = await actOn(gateway.admin, id, asked);
        expect([status, body.error]).toEqual([
          409,
          expect.objectContaining({
            code: 'action_not_possible',
            message: expect.stringContaining('succeeded'),
          }),
        ]);
        expect(await account.finished(id)).toMatchObject({ status: 'succeeded', charge: '0.500000' });
        expect(await endOf(id)).toEqual({
          result: { status: 'succeeded', charge: '500000' },
          shown: ['succeeded'],
        });
        expect(await kindsOf(id)).toEqual(['hold', 'settle']);
      }
    });

    it('and has released its hold: it failed, although its job succeeds', async () => {
      const { id } = (await account.create({ prompt: `released before ${rendering}` })).body;
      await statusIs(id, 'submitted', 'running');
      await gateway.core.ledger.release({ account: account.id, task: id, held: 762_300n });
      gateway.simulator.advance(renderSeconds);
      const error = { code: 'internal_error', class: 'internal' };
      expect(await account.finished(id)).toMatchObject({ status: 'failed', error });
      expect(await endOf(id)).toEqual({
        result: { status: 'failed', code: 'internal_error', class: 'internal' },
        shown: ['failed'],
      });
      expect(await kindsOf(id)).toEqual(['hold', 'release']);
    });
  });

  it('of a terminated workflow is repaired by the reconciler: the hold is released', async () => {
    const created = await account.create({ prompt: 'terminated [sim:never-starts]' });
    await statusIs(created.body.id, 'submitted');
    const { client } = gateway.core;
    await client.workflow.getHandle(created.body.id).terminate('a test');
    await waitUntil('visibility shows it', async () => {
      await gateway.reconcile();
      const { body } = await account.call('GET', `/v1/videos/generations/${created.body.id}`);
      return body.status === 'failed';
    });
    const { body } = await account.call('GET', `/v1/videos/generations/${created.body.id}`);
    expect(body.error.code).toBe('internal_error');
    expect(await kindsOf(created.body.id)).toEqual(['hold', 'release']);
  });

  it('leaves no hold open', async () => {
    await waitUntil('all holds are closed', async () => (await account.balance()).held === '0.000000');
  });
});
