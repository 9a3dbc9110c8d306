import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ReconcileReport } from '../../activities/types.ts';
import { openTaskWorld } from './task-support.ts';
import type { TaskWorld } from './task-support.ts';

let world: TaskWorld;
beforeAll(async () => {
  world = await openTaskWorld();
});
afterAll(() => world.close());
beforeEach(() => {
  world.workflows.closed = [];
  world.workflows.failing = [];
  world.owed.length = 0;
});

const minute = 60_000;

async function reconcileAfter(aheadMs: number): Promise<ReconcileReport> {
  world.clock.aheadMs += aheadMs;
  try {
    return await world.run(() => world.tasks().reconcileTasks());
  } finally {
    world.clock.aheadMs -= aheadMs;
  }
}

const heldBy = async (account: string) => (await world.ledger.balance(account)).held;

describe('a creation whose process died', () => {
  it('is abandoned after two minutes, and not before', async () => {
    const { task, account } = await world.newTask();
    await reconcileAfter(0);
    expect(await heldBy(account)).toBe(1_000_000n);
    await reconcileAfter(3 * minute);
    expect([await heldBy(account), await world.stores.tasks.find(task)]).toEqual([0n, undefined]);
  });

  it('is left to its workflow while that waits for a worker', async () => {
    const { task, account } = await world.newTask();
    world.workflows.running.add(task);
    await reconcileAfter(60 * minute);
    expect(await heldBy(account)).toBe(1_000_000n);
    expect(await world.stores.tasks.find(task)).toMatchObject({ status: 'pending' });
  });

  it('that was half abandoned is abandoned entirely', async () => {
    const { task, account } = await world.newTask();
    const { unstarted } = (await world.stores.tasks.find(task)) ?? {};
    await world.stores.tasks.markAbandoned(task, unstarted ?? '');
    await reconcileAfter(3 * minute);
    expect([await heldBy(account), await world.stores.tasks.find(task)]).toEqual([0n, undefined]);
  });
});

describe('a task without a workflow', () => {
  it('fails, costs nothing, and gets its callback', async () => {
    const input = await world.newTask();
    await world.tasks().claimTask(input, '1');
    world.workflows.closed = [input.task];
    await reconcileAfter(0);
    expect(await world.stores.tasks.find(input.task)).toMatchObject({
      status: 'failed',
      error: { code: 'internal_error' },
    });
    expect(await heldBy(input.account)).toBe(0n);
    expect(world.owed).toEqual([input.task]);
  });

  it('that has ended before stays as it is, and gets no second callback', async () => {
    const input = await world.newTask();
    const { task, account, key, basis, hold: held } = input;
    await world.tasks().claimTask(input, '1');
    const outcome = { kind: 'failed', error: { code: 'task_expired', message: 'Too late.' } } as const;
    await world.run(() =>
      world.tasks().finishTask({ task, account, key, basis, held, version: '2', outcome }),
    );
    world.workflows.closed = [task];
    await reconcileAfter(0);
    expect(await world.stores.tasks.find(task)).toMatchObject({ error: { code: 'task_expired' } });
    expect(world.owed).toEqual([]);
  });

  it('that was reset runs on', async () => {
    const input = await world.newTask();
    await world.tasks().claimTask(input, '1');
    world.workflows.closed = [input.task];
    world.workflows.running.add(input.task);
    await reconcileAfter(0);
    expect(await world.stores.tasks.find(input.task)).toMatchObject({ status: 'pending' });
    expect(await heldBy(input.account)).toBe(1_000_000n);
    world.workflows.running.delete(input.task);
  });

  it('that was paid is shown as succeeded, at what it cost', async () => {
    const input = await world.newTask();
    const { task, account, hold } = input;
    await world.tasks().claimTask(input, '1');
    await world.ledger.settle({ account, task, held: BigInt(hold), amount: 1_500_000n });
    world.workflows.closed = [task];
    await reconcileAfter(0);
    expect(await world.stores.tasks.find(task)).toMatchObject({ status: 'succeeded', charge: 1_500_000n });
  });

  it('that cannot be repaired now keeps neither the others nor the upkeep waiting', async () => {
    const [bad, good] = [await world.newTask(), await world.newTask()];
    for (const input of [bad, good]) await world.tasks().claimTask(input, '1');
    world.workflows.fails.add(bad.task);
    world.workflows.closed = [bad.task, good.task];
    let upkeep = 0;
    const report = await world.run(() =>
      world
        .tasks({
          upkeep: [
            { name: 'broken', run: () => Promise.reject(new Error('no')) },
            { name: 'whole', run: async () => (upkeep += 1) },
          ],
        })
        .reconcileTasks(),
    );
    expect(report).toMatchObject({ failed: 1, upkeep: { whole: 1 } });
    expect(await world.stores.tasks.find(good.task)).toMatchObject({ status: 'failed' });
    expect(world.logged.filter((line) => line.includes(bad.task))).not.toEqual([]);
    world.workflows.fails.clear();
  });
});

describe('an overdue task whose workflow still runs', () => {
  it('asks for a person, and six hundred of them hide no other', async () => {
    const deadlineAt = Date.now() - 60 * minute;
    const lost = await world.newTask({ deadlineAt: deadlineAt + 1 });
    await world.tasks().claimTask(lost, '1');
    for (let n = 0; n < 600; n += 1) {
      const id = `task_stuck${n}`;
      const { account, key, kind, model, createdAt } = lost;
      await world.stores.tasks.insert({ id, account, key, kind, model, createdAt, deadlineAt, hold: 1n }, 1n);
      world.workflows.running.add(id);
    }
    await reconcileAfter(0);
    expect(await world.stores.tasks.find(lost.task)).toMatchObject({ status: 'failed' });
    expect(await world.stores.tasks.find('task_stuck599')).toMatchObject({
      status: 'pending',
      attention: 'workflow_overdue',
    });
  });
});

describe('a task whose workflow fails at every step', () => {
  const attentionOf = async (task: string) => (await world.stores.tasks.find(task))?.attention;

  async function running(): Promise<string> {
    const input = await world.newTask();
    await world.tasks().claimTask(input, '1');
    world.workflows.running.add(input.task);
    return input.task;
  }

  it('asks for a person, until it has recovered', async () => {
    const task = await running();
    world.workflows.failing = [task];
    expect(await reconcileAfter(0)).toMatchObject({ repaired: 1 });
    expect(await attentionOf(task)).toBe('workflow_failing');
    expect(await reconcileAfter(0)).toMatchObject({ repaired: 0 });
    world.workflows.failing = [];
    expect(await reconcileAfter(0)).toMatchObject({ repaired: 1 });
    expect(await attentionOf(task)).toBeUndefined();
  });

  it('asks about nothing else than before, and not at all once it has ended', async () => {
    const [asking, ended] = [await running(), await running()];
    const { version = 0n } = (await world.stores.tasks.find(asking)) ?? {};
    await world.stores.tasks.setAttention(asking, 'submit_ambiguous', version + 1n);
    await world.stores.tasks.finish(ended, {
      status: 'failed',
      version: 10n ** 18n,
      charge: 0n,
      chargeEstimated: false,
    });
    world.workflows.failing = [asking, ended, 'task_unknown'];
    expect(await reconcileAfter(0)).toMatchObject({ repaired: 0, failed: 0 });
    expect([await attentionOf(asking), await attentionOf(ended)]).toEqual(['submit_ambiguous', undefined]);
  });
});
