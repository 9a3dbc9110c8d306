import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TaskActivityDeps } from '../../activities/deps.ts';
import type { ReconcileReport } from '../../activities/types.ts';
import type { TaskInput } from '../../src/task/input.ts';
import { toDocument, type TaskDocument } from '../../src/store/task-document.ts';
import type { Task } from '../../src/task/record.ts';
import { acceptedAttempt, begunRecord, endedTask, openTaskWorld, tryOf } from './task-support.ts';
import type { TaskWorld } from './task-support.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { testLedgerKey } from '../support/sealing.ts';
import { laggingLedger } from '../support/stale-reads.ts';
import { transitionSamples } from '../support/state-table.ts';

let world: TaskWorld;
beforeAll(async () => {
  world = await openTaskWorld();
});
afterAll(() => world.close());
afterEach(() => world.clear());

const minute = 60_000;

/**
 * Simulates a reconciler in another process, with a clock that is `aheadMs` ahead. The clock stands still during a run,
 * so that the machine's speed does not matter.
 */
function reconciler(change: Partial<TaskActivityDeps> = {}) {
  const openedAt = Date.now();
  let aheadMs = 0;
  const activities = world.tasks({ now: () => openedAt + aheadMs, ...change });
  return (ahead: number): Promise<ReconcileReport> => {
    aheadMs = ahead;
    return world.run(() => activities.reconcileTasks());
  };
}

/** Runs the reconciler twice. Between the runs, enough time passes for an unchanged task to be considered abandoned. */
async function reconcileTwice(change: Partial<TaskActivityDeps> = {}): Promise<ReconcileReport> {
  const reconcile = reconciler(change);
  await reconcile(0);
  return reconcile(2 * minute);
}

const heldBy = async ({ account }: TaskInput) => (await world.ledger.balance(account)).held;
const find = ({ task }: TaskInput) => world.stores.tasks.find(task);
const kindsOf = async ({ task }: TaskInput) =>
  (await world.ledger.entriesOfTask(task)).map(({ kind }) => kind);
async function orphan(...given: Parameters<TaskWorld['begun']>): Promise<TaskInput> {
  const input = await world.begun(...given);
  world.workflows.closed.add(input.task);
  return input;
}
const watching = (upstreamId: string): Partial<Task> => ({
  status: 'submitted',
  attempts: [acceptedAttempt(upstreamId)],
  state: { at: 'waiting', n: 1 },
});

describe('a task that no process works on', () => {
  it('is not touched until the reconciler has seen it unchanged for two minutes by its own clock', async () => {
    const input = await orphan();
    const reconcile = reconciler();
    await reconcile(3 * minute);
    await reconcile(5 * minute - 1_000);
    expect(await find(input)).toMatchObject({ state: { at: 'queued' } });
    await reconcile(5 * minute + 1_000);
    expect(await find(input)).toMatchObject({ status: 'failed' });
  });

  it('is not mistaken for an unstarted creation by a worker whose clock is ahead', async () => {
    const input = await world.newTask();
    const reconcile = reconciler();
    await reconcile(3 * minute);
    expect([await heldBy(input), (await find(input))?.state.at]).toEqual([1_000_000n, 'creating']);
  });

  it('is not touched while its record changes', async () => {
    const input = await orphan();
    const reconcile = reconciler();
    for (const n of [0, 1, 2, 3]) {
      await world.stores.tasks.step(input.task, { kind: 'extended', seconds: 60 });
      await reconcile(n * 3 * minute);
    }
    expect(await find(input)).toMatchObject({ state: { at: 'queued' } });
  });

  it('is not touched while its workflow runs, even if the list of workflows does not show it yet', async () => {
    const [listed, hidden] = [await world.begun(), await world.begun()];
    world.workflows.running.add(listed.task);
    const workflows: TaskActivityDeps['workflows'] = {
      async *running() {
        yield listed.task;
      },
      async *failing() {},
      isRunning: async (id) => id === hidden.task,
      find: async (id) => (id === hidden.task ? 'running' : 'closed'),
      tryNow: async () => ({ kind: 'busy' }),
    };
    expect(await reconcileTwice({ workflows })).toMatchObject({ repaired: 0, failed: 0 });
    for (const input of [listed, hidden]) expect(await find(input)).toMatchObject({ status: 'pending' });
  });

  it('is still under observation after a run that could not read it', async () => {
    const input = await orphan();
    let isAway = false;
    const { tasks } = world.stores;
    const reconcile = reconciler({
      tasks: {
        ...tasks,
        async *unfinished() {
          if (isAway) throw new Error('the database is away');
          yield* tasks.unfinished();
        },
      },
    });
    await reconcile(0);
    isAway = true;
    await reconcile(minute);
    expect(await find(input)).toMatchObject({ status: 'pending' });
    isAway = false;
    await reconcile(2 * minute);
    expect(await find(input)).toMatchObject({ status: 'failed' });
  });

  it('is observed from the start by another process', async () => {
    const input = await orphan();
    await reconciler()(0);
    await reconciler()(10 * minute);
    expect(await find(input)).toMatchObject({ status: 'pending' });
  });
});

describe('a creation whose process died', () => {
  it('is abandoned', async () => {
    const input = await world.newTask();
    expect(await reconcileTwice()).toMatchObject({ repaired: 1 });
    expect([await heldBy(input), await find(input)]).toEqual([0n, undefined]);
  });

  it('is failed and gets its callback if its workflow was ended before its first step', async () => {
    const input = await world.newTask();
    world.workflows.closed.add(input.task);
    expect(await reconcileTwice()).toMatchObject({ repaired: 1, failed: 0 });
    expect([await heldBy(input), await find(input)]).toMatchObject([0n, { status: 'failed' }]);
    const other = await world.newTask();
    const tryId = tryOf(await world.record(other));
    await world.stores.tasks.step(other.task, { kind: 'abandoned', tryId });
    world.workflows.closed.add(other.task);
    await reconcileTwice();
    expect([await heldBy(other), await find(other)]).toEqual([0n, undefined]);
  });

  it('is left to its workflow while that waits for a worker', async () => {
    const input = await world.newTask();
    world.workflows.running.add(input.task);
    const reconcile = reconciler();
    for (const n of [0, 30, 60]) await reconcile(n * minute);
    expect([await heldBy(input), (await find(input))?.status]).toEqual([1_000_000n, 'pending']);
  });

  it('that was half abandoned is removed entirely', async () => {
    const input = await world.newTask();
    const tryId = tryOf(await world.record(input));
    await world.stores.tasks.step(input.task, { kind: 'abandoned', tryId });
    await reconcileTwice();
    expect([await heldBy(input), await find(input)]).toEqual([0n, undefined]);
  });
});

describe('a task whose workflow was terminated', () => {
  it('fails, costs nothing, and gets its callback', async () => {
    const input = await orphan({ hasCallback: true }, watching('up-orphan'));
    await reconcileTwice();
    expect(await find(input)).toMatchObject({ status: 'failed', error: { code: 'internal_error' } });
    expect(await heldBy(input)).toBe(0n);
    expect(world.owed).toContain(input.task);
  });

  it('does not owe a callback that was not requested', async () => {
    await orphan({}, watching('up-silent'));
    await reconcileTwice();
    expect(world.owed).toEqual([]);
  });

  it('whose job had succeeded is settled at the prices of its hold', async () => {
    const price = { minimum: '0', lines: [{ measure: 'second', price: '0.1' }] } as const;
    const input = await orphan(
      { basis: { price, facts: {}, version: 'v' } },
      {
        ...watching('up-done'),
        outcome: { kind: 'succeeded', items: [], facts: { durationSeconds: 7 } },
        state: { at: 'ending', ending: { kind: 'succeeded' } },
      },
    );
    await reconcileTwice();
    expect(await find(input)).toMatchObject({ status: 'succeeded', charge: 700_000n });
    expect(await kindsOf(input)).toEqual(['hold', 'settle']);
  });

  it('whose charge would need an operator fails and costs nothing, because no operator can be asked any more', async () => {
    const price = { minimum: '0', lines: [{ measure: 'call', price: '4' }] } as const;
    const input = await orphan(
      { basis: { price, facts: {}, version: 'v' } },
      {
        ...watching('up-costly'),
        outcome: { kind: 'succeeded', items: [], facts: {} },
        state: { at: 'ending', ending: { kind: 'succeeded' } },
      },
    );
    await reconcileTwice();
    expect(await find(input)).toMatchObject({ status: 'failed', state: { at: 'ended' } });
    expect(await kindsOf(input)).toEqual(['hold', 'release']);
  });

  it('that was paid is shown as succeeded, at what it cost', async () => {
    const input = await orphan({}, watching('up-paid'));
    const { account, task } = input;
    await world.ledger.settle({ account, task, held: 1_000_000n, amount: 1_500_000n });
    await reconcileTwice();
    expect(await find(input)).toMatchObject({ status: 'succeeded', charge: 1_500_000n });
  });

  it('for which nothing was ever held fails, and nothing throws', async () => {
    const input = await world.newTask();
    const never = { ...input, task: `${input.task}0` };
    const record = begunRecord(never, Date.now());
    await world.stores.tasks.insert(record);
    expect(await reconcileTwice()).toMatchObject({ failed: 0 });
    expect(await find(never)).toMatchObject({ status: 'failed', charge: 0n });
  });

  it('that has ended before stays as it is', async () => {
    const input = await orphan({}, { state: { at: 'ended' }, status: 'failed', charge: 0n });
    const before = await world.record(input);
    await reconcileTwice();
    expect([await find(input), world.owed]).toEqual([before, []]);
  });

  it('that cannot be repaired now delays neither the others nor the upkeep', async () => {
    const [bad, good] = [await orphan(), await orphan()];
    const reconcile = reconciler({
      upkeep: [
        { name: 'files', run: () => Promise.reject(new Error('no')) },
        { name: 'slots', run: async () => 3 },
      ],
    });
    await reconcile(0);
    world.workflows.fails.add(bad.task);
    expect(await reconcile(3 * minute)).toMatchObject({ failed: 1, upkeep: { slots: 3 } });
    expect(await find(good)).toMatchObject({ status: 'failed' });
    expect(await find(bad)).toMatchObject({ status: 'pending' });
    expect(world.logged.filter((line) => line.includes(bad.task))).not.toEqual([]);
    world.workflows.fails.clear();
    await reconcile(6 * minute);
    expect(await find(bad)).toMatchObject({ status: 'failed' });
  });

  it('is ended although Temporal cannot list running workflows', async () => {
    const input = await orphan();
    const workflows: TaskActivityDeps['workflows'] = {
      running: () => {
        throw new Error('visibility is away');
      },
      async *failing() {},
      isRunning: async () => false,
      find: async () => 'closed',
      tryNow: async () => ({ kind: 'busy' }),
    };
    expect(await reconcileTwice({ workflows })).toMatchObject({ failed: 1, repaired: 1 });
    expect(await find(input)).toMatchObject({ status: 'failed' });
  });
});

describe('a task whose workflow Temporal has lost', () => {
  const unfinished = transitionSamples().tasks.filter(
    ([, { state }]) => !['creating', 'ended'].includes(state.at),
  );
  it.each(unfinished)('gets a new one from its record, once: %s', async (_, { state, attempts, status }) => {
    const deadlineAt = Date.now() + 7_000_000;
    const input = await world.begun({}, { state, attempts, status, deadlineAt });
    const before = await find(input);
    const reconcile = reconciler({ isConfigCurrent: () => false });
    await reconcile(0);
    expect(await reconcile(2 * minute)).toMatchObject({ repaired: 1, failed: 0 });
    expect(world.started).toEqual([{ ...input, deadlineAt }]);
    expect([await find(input), await kindsOf(input)]).toEqual([before, ['hold']]);
    await reconcile(4 * minute);
    expect(world.started).toHaveLength(1);
  });

  it('is not ended while reads just after an election miss its hold', async () => {
    const collection = await laggingLedger(world.db);
    const { task } = await world.begun({}, watching('up-lag'));
    const ledger = createLedger({ collection, key: testLedgerKey, now: Date.now });
    const reconcile = reconciler({ ledger });
    await reconcile(0);
    await reconcile(2 * minute);
    await reconcile(4 * minute);
    expect(world.started.map((input) => input.task)).toEqual([task]);
    expect((await world.record({ task })).state).toEqual({ at: 'waiting', n: 1 });
  });

  it('is ended if nothing is held for it', async () => {
    const input = await world.newTask();
    const record = begunRecord({ ...input, task: `${input.task}0` }, Date.now());
    await world.stores.tasks.insert(record);
    await reconcileTwice();
    expect([world.started, (await world.stores.tasks.find(record.id))?.status]).toEqual([[], 'failed']);
  });
});

describe('a callback that is owed', () => {
  it('is started if it has been pending for two minutes', async () => {
    const task = await endedTask(world);
    const reconcile = reconciler();
    await reconcile(0);
    expect(world.owed).toEqual([]);
    await reconcile(2 * minute);
    expect(world.owed).toEqual([task]);
  });

  it('is left to the task’s workflow while that runs, even if the list of workflows does not show it', async () => {
    const [listed, hidden] = [await endedTask(world), await endedTask(world)];
    const workflows: TaskActivityDeps['workflows'] = {
      async *running() {
        yield listed;
      },
      async *failing() {},
      isRunning: async (id) => id === hidden,
      find: async (id) => (id === hidden ? 'running' : 'closed'),
      tryNow: async () => ({ kind: 'busy' }),
    };
    await reconcileTwice({ workflows });
    expect(world.owed).toEqual([]);
  });

  it.each([200, 410])('is no longer pending once the receiver has responded with %d', async (status) => {
    const task = await endedTask(world);
    await world.deliver({ post: async () => ({ status }) }, task).catch(() => undefined);
    await reconcileTwice();
    expect(world.owed).toEqual([]);
  });

  it('stays pending while requests fail', async () => {
    const task = await endedTask(world);
    await world.deliver({ post: async () => ({ status: 500 }) }, task).catch(() => undefined);
    await reconcileTwice();
    expect(world.owed).toEqual([task]);
  });

  it('that cannot be started delays no other', async () => {
    const tasks = [await endedTask(world), await endedTask(world)].toSorted();
    const started: string[] = [];
    const owedCallback = async (task: string): Promise<void> => {
      if (task === tasks[0]) throw new Error('Temporal is away');
      started.push(task);
    };
    expect(await reconcileTwice({ owedCallback })).toMatchObject({ failed: 1 });
    expect(started).toEqual([tasks[1]]);
  });
});

describe('an overdue task whose workflow still runs', () => {
  it('asks for an operator, and six hundred of them hide no other task', async () => {
    const deadlineAt = Date.now() - 60 * minute;
    const lost = await orphan({ deadlineAt: deadlineAt + 1 });
    const stuck = Array.from({ length: 600 }, (_, n) =>
      toDocument(begunRecord({ ...lost, task: `task_stuck${n}`, deadlineAt }, Date.now())),
    );
    await world.db.collection<TaskDocument>('tasks').insertMany(stuck);
    for (const { _id } of stuck) world.workflows.running.add(_id);
    await reconcileTwice();
    expect(await find(lost)).toMatchObject({ status: 'failed' });
    expect(await world.stores.tasks.find('task_stuck599')).toMatchObject({
      status: 'pending',
      attention: 'workflow_overdue',
    });
  });

  it('does so no earlier than ten minutes after its deadline', async () => {
    const input = await world.begun({ deadlineAt: Date.now() });
    world.workflows.running.add(input.task);
    const reconcile = reconciler();
    await reconcile(9 * minute);
    expect(await find(input)).not.toHaveProperty('attention');
    await reconcile(11 * minute);
    expect(await find(input)).toMatchObject({ attention: 'workflow_overdue' });
    expect(world.signalled).toEqual([[input.task, 'workflow_overdue']]);
  });
});

describe('a task whose workflow fails at every step', () => {
  async function running(record: Partial<Task> = {}): Promise<TaskInput> {
    const input = await world.begun({}, record);
    world.workflows.running.add(input.task);
    return input;
  }
  const attentionOf = async (input: TaskInput) => (await find(input))?.attention;

  it('asks for an operator until it has recovered', async () => {
    const input = await running();
    const reconcile = reconciler();
    world.workflows.failing = [input.task];
    expect(await reconcile(0)).toMatchObject({ repaired: 1 });
    expect(await attentionOf(input)).toBe('workflow_failing');
    expect(await reconcile(0)).toMatchObject({ repaired: 0 });
    world.workflows.failing = [];
    expect(await reconcile(0)).toMatchObject({ repaired: 1 });
    expect(await attentionOf(input)).toBeUndefined();
  });

  it('keeps an earlier concern, and raises none once it has ended', async () => {
    const { attempts = [] } = watching('up-asking');
    const broken = { at: 'broken', n: 1, code: 'gone' } as const;
    const [asking, ended] = [
      await running({ attempts, state: broken }),
      await running({ state: { at: 'ended' }, status: 'failed' }),
    ];
    world.workflows.failing = [asking.task, ended.task, 'task_unknown'];
    expect(await reconciler()(0)).toMatchObject({ repaired: 0, failed: 0 });
    expect([await attentionOf(asking), await attentionOf(ended)]).toEqual(['poll_failed', undefined]);
  });
});

describe('a task that waits for a credential that was removed', () => {
  const channelsWith = (...ids: string[]): Partial<TaskActivityDeps> => ({
    channels: ((name: string) =>
      name === 'ark' ? { config: { credentials: ids.map((id) => ({ id })) } } : undefined) as never,
  });

  it('asks for an operator until the credential is back', async () => {
    const input = await world.begun({}, watching('up-removed'));
    world.workflows.running.add(input.task);
    await reconciler(channelsWith('other'))(0);
    expect(await find(input)).toMatchObject({ concern: 'channel_gone', attention: 'channel_gone' });
    expect(await reconciler(channelsWith('other'))(0)).toMatchObject({ repaired: 0 });
    expect(await reconciler(channelsWith('other', 'a'))(0)).toMatchObject({ repaired: 1 });
    expect(await find(input)).not.toHaveProperty('attention');
    expect(await find(input)).not.toHaveProperty('concern');
    expect(world.signalled).toEqual([
      [input.task, 'channel_gone'],
      [input.task, undefined],
    ]);
  });

  it('asks again if its workflow could not learn of it', async () => {
    const input = await world.begun({}, watching('up-untold'));
    world.workflows.running.add(input.task);
    const away = async () => {
      throw new Error('Temporal is away');
    };
    const mute = { ...channelsWith('other'), signals: { concern: away, unserved: away } };
    expect(await reconciler(mute)(0)).toMatchObject({ repaired: 0, failed: 1 });
    expect(await find(input)).not.toHaveProperty('attention');
    expect(await reconciler(channelsWith('other'))(0)).toMatchObject({ repaired: 1 });
    expect(await reconciler({ ...mute, ...channelsWith('a') })(0)).toMatchObject({ failed: 1 });
    expect(await find(input)).toMatchObject({ concern: 'channel_gone' });
  });

  it('asks the same if the whole channel is gone, unless it has not been submitted yet', async () => {
    const [waiting, submitting] = [await world.begun({}, watching('up-channel')), await world.begun()];
    for (const { task } of [waiting, submitting]) world.workflows.running.add(task);
    await reconciler()(0);
    expect(await find(waiting)).toMatchObject({ attention: 'channel_gone' });
    expect(await find(submitting)).not.toHaveProperty('attention');
  });

  it('raises no concern in a worker that could not load the newest configuration', async () => {
    const input = await world.begun({}, watching('up-refused'));
    world.workflows.running.add(input.task);
    await reconciler({ isConfigCurrent: () => false })(0);
    expect(await find(input)).not.toHaveProperty('attention');
  });

  it('keeps another concern if the credential was never gone', async () => {
    const input = await world.begun({}, watching('up-overdue'));
    world.workflows.running.add(input.task);
    await world.stores.tasks.setConcern(input.task, 'overdue');
    expect(await reconciler(channelsWith('a'))(0)).toMatchObject({ repaired: 0 });
    expect(await find(input)).toMatchObject({ attention: 'overdue' });
  });
});

describe('a task whose channel no worker serves', () => {
  let since: number | undefined;
  const workers = async () => ({
    unserved: (channel?: string) =>
      since === undefined || channel !== 'ark' ? undefined : { channel, since },
  });
  beforeEach(() => (since = 1));

  it('asks for an operator after two minutes, until a worker is back', async () => {
    const input = await world.begun();
    world.workflows.running.add(input.task);
    const reconcile = reconciler({ workers });
    await reconcile(0);
    since = 2;
    await reconcile(2 * minute);
    expect(await find(input)).not.toHaveProperty('attention');
    await reconcile(4 * minute);
    expect(await find(input)).toMatchObject({ concern: 'no_worker', attention: 'no_worker' });
    expect(await reconciler({ workers })(0)).toMatchObject({ repaired: 0 });
    since = undefined;
    expect(await reconciler({ workers })(0)).toMatchObject({ repaired: 1 });
    expect(await find(input)).not.toHaveProperty('attention');
  });

  describe('that could also be submitted elsewhere', () => {
    const [ark, spare] = [
      { channel: 'ark', credential: 'a' },
      { channel: 'spare', credential: 'a' },
    ];
    const all = (() => ({ config: { credentials: [{ id: 'a' }] } })) as never;
    const heard = async (record: Partial<Task>, change: Partial<TaskActivityDeps>): Promise<unknown[]> => {
      const input = await world.begun({ candidates: [ark, spare] }, record);
      world.workflows.running.add(input.task);
      const { rev } = await world.record(input);
      const reconcile = reconciler({ workers, ...change });
      await reconcile(0);
      const atOnce = world.signalled.length;
      await reconcile(2 * minute);
      expect(await find(input)).toMatchObject({ status: 'pending', rev });
      return [atOnce, ...world.signalled.map(([task, ...news]) => [task === input.task, ...news])];
    };

    it('is redirected after two minutes', async () => {
      expect(await heard({}, { channels: all })).toEqual([0, [true, 'ark']]);
    });

    it('is redirected at once if the configuration lacks the channel', async () => {
      expect((await heard({}, { channels: () => undefined })).slice(0, 2)).toEqual([1, [true, 'ark']]);
    });

    it.each<[string, Partial<Task>, Partial<TaskActivityDeps>]>([
      [
        'a request is in flight',
        {
          state: { at: 'sending', n: 1, round: 1, left: [ark, spare], full: [] },
          attempts: [{ ...ark, n: 1, state: 'sending', owner: 'o', marker: 'm', startedAt: 1 }],
        },
        {},
      ],
      [
        'no other is served',
        {},
        { workers: async () => ({ unserved: (channel = '') => ({ channel, since: 1 }) }) },
      ],
      [
        'it may be asked for nowhere else',
        { state: { at: 'queued', round: 1, left: [ark], full: [], replaces: true } },
        {},
      ],
    ])('waits if %s, and an operator is asked', async (_, record, change) => {
      expect(await heard(record, { channels: all, ...change })).toEqual([0, [true, 'no_worker']]);
    });
  });

  it('keeps its earlier concern, and a task that waits elsewhere raises none', async () => {
    const [overdue, elsewhere] = [
      await world.begun(),
      await world.begun({}, { state: { at: 'sending', round: 1, left: [], full: [], n: 1, stop: 'cancel' } }),
    ];
    for (const { task } of [overdue, elsewhere]) world.workflows.running.add(task);
    await world.stores.tasks.setConcern(overdue.task, 'overdue');
    await reconcileTwice({ workers });
    expect(await find(overdue)).toMatchObject({ attention: 'overdue' });
    expect(await find(elsewhere)).not.toHaveProperty('attention');
  });
});
