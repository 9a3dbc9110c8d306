import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reachedBeforeDeadline } from '../support/before-deadline.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import type { TestAccount } from '../support/client.ts';
import { waitUntil } from '../support/processes.ts';
import { pauseFirstAt, type Paused } from '../support/race.ts';
import { charges, openFallbackWorld, type FallbackWorld } from './fallback-world.ts';

describe('a job that failed at its upstream', () => {
  let world: FallbackWorld;
  let account: TestAccount;
  let count = 0;
  beforeAll(async () => {
    world = await openFallbackWorld();
    account = await world.gateway.account();
  });
  afterAll(() => world.gateway.stop());

  const label = (): string => `fallback-${(count += 1)}-end`;
  const detail = async (id: string) => (await world.gateway.admin('GET', `/admin/v1/tasks/${id}`)).body;
  const create = async (model: string, prompt: string, metadata: Record<string, unknown> = {}) =>
    (await account.create({ model, prompt, metadata })).body.id as string;
  const hasAttempt = (id: string, attempt: string) =>
    waitUntil(`an attempt is ${attempt}`, async () => (await world.attempts(id)).includes(attempt));
  const cancel = (id: string) => account.call('POST', `/v1/videos/generations/${id}/cancel`);

  it('is replaced at the fallback: one charge at that channel’s price, one callback, and no mention of the failure', async () => {
    const prompt = label();
    const receiver = await startCallbackReceiver();
    const before = await account.balance();
    world.disturb('first', prompt, 'failed');
    const id = await create('rescued', prompt, { callback_url: receiver.url });
    const seen = new Set<string>();
    const look = async () =>
      seen.add((await account.call('GET', `/v1/videos/generations/${id}`)).body.status);
    const watching = setInterval(() => void look().catch(() => undefined), 50);
    const done = await account.finished(id).finally(() => clearInterval(watching));
    expect(done).toMatchObject({ status: 'succeeded' });
    expect([...seen]).not.toContain('failed');
    expect(done['video_url'] ?? JSON.stringify(done)).toContain('http');

    expect(await world.attempts(id)).toEqual(['failed first', 'accepted second']);
    expect(world.jobs(prompt)).toEqual({ first: 1, second: 1 });
    expect(await world.entries(id)).toEqual(['hold', 'settle']);
    expect(await detail(id)).toMatchObject({
      channel: 'second',
      hold: charges.first,
      charge: charges.second,
      attempts: [{ class: 'internal', code: 'InternalServiceError' }, { class: null }],
    });
    const after = await account.balance();
    expect(Number(before.available) - Number(after.available)).toBeCloseTo(Number(charges.second), 6);
    await receiver.waitFor(1);
    expect(receiver.received.map(({ body }) => body.status)).toEqual(['succeeded']);
    await receiver.close();
    await expect.poll(() => world.gateway.core.stores.slots.held()).toEqual([]);
  });

  it('holds the dearer channel’s price, and never costs more than that', async () => {
    const prompt = label();
    world.disturb('first', prompt, 'failed');
    world.disturb('second', prompt, 'usage-above=4');
    const id = await create('dearer', prompt);
    expect((await detail(id)).hold).toBe(charges.dearer);
    expect(await account.finished(id)).toMatchObject({ status: 'succeeded' });
    expect((await detail(id)).charge).toBe(charges.dearer);
    expect(await world.entries(id)).toEqual(['hold', 'settle']);
  });

  it('fails the task once if the other job fails too: one release, one callback, the last error', async () => {
    const prompt = label();
    const receiver = await startCallbackReceiver();
    world.disturb('first', prompt, 'failed');
    world.disturb('second', prompt, 'failed');
    const id = await create('rescued', prompt, { callback_url: receiver.url });
    expect(await account.finished(id)).toMatchObject({
      status: 'failed',
      error: { code: 'provider_error', class: 'internal' },
    });
    expect(await world.attempts(id)).toEqual(['failed first', 'accepted second']);
    expect(world.jobs(prompt)).toEqual({ first: 1, second: 1 });
    expect(await world.entries(id)).toEqual(['hold', 'release']);
    await receiver.waitFor(1);
    expect(receiver.received.map(({ body }) => body.status)).toEqual(['failed']);
    await receiver.close();
  });

  it('fails the task with its own error if the fallback refuses the request', async () => {
    const prompt = label();
    world.disturb('first', prompt, 'failed');
    world.disturb('second', prompt, 'moderation');
    const id = await create('rescued', prompt);
    expect(await account.finished(id)).toMatchObject({
      status: 'failed',
      error: { class: 'moderation_input' },
    });
    expect(await world.attempts(id)).toEqual(['failed first', 'rejected second']);
    expect(await world.entries(id)).toEqual(['hold', 'release']);
  });

  it.each([
    ['the model names no fallback', 'plain', 'failed', 'internal'],
    ['its content was refused', 'rescued', 'moderation-in-task', 'moderation_output'],
    ['its request was refused for its content', 'rescued', 'moderation', 'moderation_input'],
  ])('is the task’s failure if %s', async (_, model, fault, failure) => {
    const prompt = label();
    world.disturb('first', prompt, fault);
    const id = await create(model, prompt);
    expect(await account.finished(id)).toMatchObject({ status: 'failed', error: { class: failure } });
    expect(world.jobs(prompt).second).toBe(0);
    expect(await world.entries(id)).toEqual(['hold', 'release']);
  });

  it('is the task’s failure if it is unknown whether it is billed', async () => {
    const prompt = label();
    const id = await create('untold', `${prompt} [sim:failed]`);
    expect(await account.finished(id)).toMatchObject({ status: 'failed', error: { class: 'internal' } });
    expect(await world.attempts(id)).toEqual(['accepted relay']);
  });

  it.each([
    ['before it was accepted', 'moderation', 'rejected first', 'moderation_input'],
    ['after it was rendered', 'moderation-in-task', 'failed first', 'moderation_output'],
  ])(
    'for its content, %s, moves to the fallback if the operator allows it',
    async (_, fault, first, failure) => {
      const prompt = label();
      world.disturb('first', prompt, fault);
      const id = await create('moderated', prompt);
      expect(await account.finished(id)).toMatchObject({ status: 'succeeded' });
      expect(await world.attempts(id)).toEqual([first, 'accepted second']);
      expect((await detail(id)).attempts[0].class).toBe(failure);
      expect((await detail(id)).charge).toBe(charges.second);
    },
  );

  it('for another reason is not replaced if only content is listed', async () => {
    const prompt = label();
    world.disturb('first', prompt, 'failed');
    const id = await create('moderated', prompt);
    expect(await account.finished(id)).toMatchObject({ status: 'failed' });
    expect(world.jobs(prompt).second).toBe(0);
  });

  describe('while the fallback accepts nothing yet', () => {
    it('the task fails with the job’s error once there is too little time for another attempt', async () => {
      const id = await reachedBeforeDeadline(account, {
        seconds: 25,
        body() {
          const prompt = label();
          world.disturb('first', prompt, 'failed');
          world.disturb('second', prompt, 'create:429');
          return { model: 'rescued', prompt };
        },
        isReached: async (task) => (await world.attempts(task)).includes('not_accepted second'),
      });
      expect(await account.finished(id)).toMatchObject({
        status: 'failed',
        error: { code: 'provider_error', class: 'internal' },
      });
      expect(await world.attempts(id)).toEqual(['failed first', 'not_accepted second']);
      expect(await world.entries(id)).toEqual(['hold', 'release']);
    });

    it('can be cancelled', async () => {
      const prompt = label();
      world.disturb('first', prompt, 'failed');
      world.disturb('second', prompt, 'create:429');
      const id = await create('rescued', prompt);
      await hasAttempt(id, 'not_accepted second');
      expect((await cancel(id)).status).toBe(200);
      expect(await account.finished(id)).toMatchObject({ error: { code: 'task_cancelled' } });
      expect(await world.attempts(id)).toEqual(['failed first', 'not_accepted second']);
      expect(await world.entries(id)).toEqual(['hold', 'release']);
    });

    it('returns its slot at the first channel', async () => {
      const prompt = label();
      world.disturb('first', prompt, 'failed');
      world.disturb('second', prompt, 'create:429');
      const id = await create('rescued', prompt);
      await hasAttempt(id, 'not_accepted second');
      const held = await world.gateway.core.stores.slots.held();
      expect(held.filter(({ task }) => task === id).map(({ queue }) => queue)).toEqual([
        expect.stringContaining('second'),
      ]);
      await cancel(id);
    });
  });

  it('between its end and its replacement, at the deadline, is the task’s failure', async () => {
    const pauses: Paused[] = [];
    let reached = '';
    let prompt = '';
    const id = await reachedBeforeDeadline(account, {
      seconds: 15,
      body() {
        prompt = label();
        world.disturb('first', prompt, 'failed');
        pauses.at(-1)?.release();
        const paused = pauseFirstAt('poll.closed');
        pauses.push(paused);
        void paused.reached.then((subject) => (reached = subject));
        return { model: 'rescued', prompt };
      },
      isReached: async (task) => reached === `${task}:1`,
    });
    expect(await world.attempts(id)).toEqual(['failed first']);
    expect(await account.finished(id)).toMatchObject({ status: 'failed', error: { class: 'internal' } });
    pauses.at(-1)?.release();
    expect(world.jobs(prompt)).toEqual({ first: 1, second: 0 });
    expect(await world.entries(id)).toEqual(['hold', 'release']);
  });

  it('between its end and its replacement can be cancelled: the other job does not outlive it', async () => {
    const prompt = label();
    const paused = pauseFirstAt('poll.closed');
    world.disturb('first', prompt, 'failed');
    const id = await create('rescued', prompt);
    await paused.reached;
    expect((await cancel(id)).status).toBe(200);
    paused.release();
    expect(await account.finished(id)).toMatchObject({ error: { code: 'task_cancelled' } });
    expect(world.jobs(prompt)).toEqual({ first: 1, second: 0 });
    expect(await world.entries(id)).toEqual(['hold', 'release']);
  });

  it('is replaced by the next worker if one dies in between, and the dead worker’s late writes change nothing', async () => {
    const prompt = label();
    const paused = pauseFirstAt('poll.closed');
    world.disturb('first', prompt, 'failed');
    const id = await create('rescued', prompt);
    await paused.reached;
    // The paused attempt misses its heartbeat timeout of one minute, so the server gives the poll to another worker.
    await hasAttempt(id, 'accepted second');
    paused.release();
    expect(await account.finished(id)).toMatchObject({ status: 'succeeded' });
    expect(await world.attempts(id)).toEqual(['failed first', 'accepted second']);
    expect(world.jobs(prompt)).toEqual({ first: 1, second: 1 });
    expect((await detail(id)).charge).toBe(charges.second);
  });

  it('can be cancelled while its replacement runs', async () => {
    const prompt = label();
    world.disturb('first', prompt, 'failed');
    world.disturb('second', prompt, 'never-starts');
    const id = await create('rescued', prompt);
    await hasAttempt(id, 'accepted second');
    expect((await cancel(id)).status).toBe(200);
    expect(await account.finished(id)).toMatchObject({ error: { code: 'task_cancelled' } });
    const phases = world.gateway.simulator.tasks(prompt).map(({ phase }) => phase);
    expect(phases).toEqual(['failed', 'cancelled']);
    expect(await world.entries(id)).toEqual(['hold', 'release']);
  });

  it('keeps its replacement through a reset of the workflow to its start', async () => {
    const prompt = label();
    world.disturb('first', prompt, 'failed');
    world.disturb('second', prompt, 'render=6');
    const id = await create('rescued', prompt);
    await hasAttempt(id, 'accepted second');
    const { client } = world.gateway.core;
    const { events = [] } = await client.workflow.getHandle(id).fetchHistory();
    const firstDone = (events ?? []).find(({ workflowTaskCompletedEventAttributes: done }) => Boolean(done));
    await client.workflowService.resetWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId: id },
      reason: 'a test',
      requestId: id,
      workflowTaskFinishEventId: firstDone?.eventId ?? null,
    });
    expect(await account.finished(id)).toMatchObject({ status: 'succeeded' });
    expect(world.jobs(prompt)).toEqual({ first: 1, second: 1 });
    expect(await detail(id)).toMatchObject({ charge: charges.second, channel: 'second' });
    expect(await world.entries(id)).toEqual(['hold', 'settle']);
  });
});
