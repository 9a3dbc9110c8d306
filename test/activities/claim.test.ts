import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTaskWorld } from './task-support.ts';
import type { TaskWorld } from './task-support.ts';

let world: TaskWorld;
beforeAll(async () => {
  world = await openTaskWorld();
});
afterAll(() => world.close());

const version = '1';

async function accept(task: string): Promise<void> {
  const { attempts, tasks } = world.stores;
  await attempts.begin({ task, n: 1, channel: 'ark', credential: 'a', marker: 'm' }, 'me');
  const candidate = { channel: 'ark', credential: 'a' };
  await attempts.accept(`${task}:1`, candidate, { id: `up-${task}` });
  await tasks.markSubmitted(task, {
    version: 5n,
    channel: 'ark',
    credential: 'a',
    upstreamId: `up-${task}`,
    traceId: '',
  });
}

describe('claimTask', () => {
  it('makes the task the workflow’s own: its creator can no longer abandon it', async () => {
    const input = await world.newTask();
    const before = await world.stores.tasks.find(input.task);
    expect(await world.tasks().claimTask(input, version)).toEqual({ state: 'open' });
    expect(await world.stores.tasks.markAbandoned(input.task, before?.unstarted ?? '')).toBe(false);
    // The local activity may be run again before anything else has happened.
    expect(await world.tasks().claimTask(input, version)).toEqual({ state: 'open' });
  });

  it('finds nothing where the creation was abandoned, at whatever step of that', async () => {
    const input = await world.newTask();
    const { unstarted } = (await world.stores.tasks.find(input.task)) ?? {};
    await world.stores.tasks.markAbandoned(input.task, unstarted ?? '');
    expect(await world.tasks().claimTask(input, version)).toEqual({ state: 'given_up' });
    await world.ledger.void({ account: input.account, task: input.task });
    expect(await world.tasks().claimTask(input, version)).toEqual({ state: 'given_up' });
    await world.stores.tasks.removeAbandoned(input.task);
    expect(await world.tasks().claimTask(input, version)).toEqual({ state: 'given_up' });
    expect(await world.stores.tasks.find(input.task)).toBeUndefined();
  });

  it('after a reset resumes the job that an earlier run submitted, whatever the clock says', async () => {
    const input = await world.newTask({ deadlineAt: Date.now() - 1 });
    await world.tasks().claimTask(input, version);
    await accept(input.task);
    expect(await world.tasks().claimTask(input, version)).toMatchObject({
      state: 'accepted',
      attempts: 1,
      job: { candidate: { channel: 'ark', credential: 'a' }, operation: { id: `up-${input.task}` } },
    });
    expect(await world.ledger.balance(input.account)).toMatchObject({ held: 1_000_000n });
  });

  it('after a reset of a task that has ended finds its end', async () => {
    const input = await world.newTask();
    const { account, task, key, basis } = input;
    await world.tasks().claimTask(input, version);
    await world.run(() =>
      world.tasks().finishTask({
        account,
        task,
        key,
        basis,
        held: input.hold,
        version: '9',
        outcome: { kind: 'failed', error: { code: 'task_expired', message: 'Too late.' } },
      }),
    );
    expect(await world.tasks().claimTask(input, version)).toEqual({
      state: 'ended',
      result: { status: 'failed', code: 'task_expired' },
    });
  });

  it('submits nothing for which nothing is held', async () => {
    const input = await world.newTask();
    // Nobody does this to a task that was not abandoned: only a bug would.
    const lost = { ...input, task: `${input.task}0` };
    const { task: id, account, key, kind, model, createdAt, deadlineAt } = lost;
    await world.stores.tasks.insert({ id, account, key, kind, model, createdAt, deadlineAt, hold: 1n }, 1n);
    expect(await world.tasks().claimTask(lost, version)).toEqual({ state: 'not_held' });
  });

  it('restores a projection that was lost while its hold is open', async () => {
    const input = await world.newTask();
    await world.tasks().claimTask(input, version);
    await accept(input.task);
    await world.drop(input.task);
    expect(await world.tasks().claimTask(input, version)).toMatchObject({ state: 'accepted' });
    expect(await world.stores.tasks.find(input.task)).toMatchObject({ account: input.account });
  });
});
