import { randomBytes } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { CallbackActivityDeps, TaskActivityDeps } from '../../activities/deps.ts';
import { createCallbackActivities, createTaskActivities } from '../../activities/index.ts';
import { createFirstCallback } from '../../activities/first-callback.ts';
import type { FirstCallbackDeps } from '../../activities/first-callback.ts';
import type { TaskActivities } from '../../activities/types.ts';
import { createPromptHosts } from '../../src/capacity/prompt-hosts.ts';
import { createHostPlaces } from '../../src/capacity/host-places.ts';
import type { TaskInput } from '../../src/domain/task-input.ts';
import { ensureLedgerIndexes, ledgerCollection } from '../../src/ledger/collection.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { createLogger } from '../../src/observability/log.ts';
import { createStores, ensureStoreIndexes } from '../../src/store/stores.ts';
import type { Stores } from '../../src/store/stores.ts';
import { createAbandonCreation } from '../../src/tasks/abandon-creation.ts';
import { openDatabase } from '../capacity/support.ts';

/** The activities of the `tasks` and `callbacks` queues on a real MongoDB; what they ask Temporal is the test's. */
export interface TaskWorld {
  readonly stores: Stores;
  readonly ledger: Ledger;
  readonly clock: { aheadMs: number };
  /** What the reconciler learns about workflows. */
  readonly workflows: { closed: string[]; failing: string[]; running: Set<string>; fails: Set<string> };
  /** Tasks whose callback the reconciler has started. */
  readonly owed: string[];
  readonly logged: string[];
  tasks(change?: Partial<TaskActivityDeps>): ReturnType<typeof createTaskActivities>;
  deliver(deps: Partial<CallbackActivityDeps>, task: string, round?: string, dueAt?: number): Promise<void>;
  /** The step of one worker: what it learns about hosts, it keeps. */
  firstCallback(deps: Partial<FirstCallbackDeps>): TaskActivities['firstCallback'];
  run<Result>(activity: () => Promise<Result>): Promise<Result>;
  /** A task as its create leaves it behind: held, and not yet claimed. */
  newTask(change?: Partial<TaskInput>): Promise<TaskInput>;
  /** The projection is lost, as in a restored backup. */
  drop(task: string): Promise<void>;
  close(): Promise<void>;
}

export async function openTaskWorld(): Promise<TaskWorld> {
  const database = await openDatabase();
  const clock = { aheadMs: 0 };
  const now = () => Date.now() + clock.aheadMs;
  const stores = createStores(database.db, now);
  await Promise.all([ensureStoreIndexes(stores), ensureLedgerIndexes(database.db)]);
  const ledger = createLedger({ collection: ledgerCollection(database.db), now });
  const workflows: TaskWorld['workflows'] = { closed: [], failing: [], running: new Set(), fails: new Set() };
  const owed: string[] = [];
  const logged: string[] = [];
  const log = createLogger({
    level: 'debug',
    format: 'json',
    destination: { write: (line) => void logged.push(line) },
  });
  const callbackDeps = (change: Partial<FirstCallbackDeps>): FirstCallbackDeps => {
    const places =
      change.places ??
      createHostPlaces({
        requestsPerHostMax: 1,
        requestsPerAccountMax: 100,
        waitingPerHostMax: 0,
        waitMs: 0,
        now,
        random: Math.random,
      });
    return {
      ...stores,
      webhookSecrets: async () => [`whsec_${Buffer.alloc(24).toString('base64')}`],
      places,
      promptHosts: createPromptHosts({ places, callsMax: 100, avoidMs: 60_000, now }),
      // Whoever answers is quick enough, however busy the machine is.
      sleep: () => new Promise(() => undefined),
      post: async () => ({ status: 200 }),
      present: ({ id }) => JSON.stringify({ id }),
      now,
      ...change,
    };
  };
  return {
    stores,
    ledger,
    clock,
    workflows,
    owed,
    logged,
    tasks: (change = {}) =>
      createTaskActivities(
        {
          ...stores,
          ledger,
          channels: () => undefined,
          slots: { release: async () => undefined },
          workflows: {
            async *closedAbnormally() {
              yield* workflows.closed;
            },
            async *failing() {
              yield* workflows.failing;
            },
            wake: async () => false,
            isRunning: (id) =>
              workflows.fails.has(id)
                ? Promise.reject(new Error(`Temporal does not report ${id}`))
                : Promise.resolve(workflows.running.has(id)),
          },
          abandonCreation: createAbandonCreation({ ...stores, ledger }),
          owedCallback: async (task) => void owed.push(task),
          upkeep: [],
          log,
          now,
          ...change,
        },
        callbackDeps({}),
      ),
    deliver: (change, task, round, dueAt) =>
      new MockActivityEnvironment().run(() =>
        createCallbackActivities(callbackDeps(change)).deliverCallback(task, round, dueAt),
      ),
    firstCallback: (change) => createFirstCallback(callbackDeps(change)),
    run: (activity) => new MockActivityEnvironment().run(activity),
    async newTask(change = {}) {
      const task = `task_${randomBytes(12).toString('hex')}`;
      const account = `acc-${randomBytes(6).toString('hex')}`;
      const createdAt = now();
      const input: TaskInput = {
        task,
        account,
        key: 'key_1',
        kind: 'video',
        model: 'seedance',
        candidates: [{ channel: 'ark', credential: 'a' }],
        hold: '1000000',
        basis: { price: { unit: 'call', minimum: '0', rules: [{ price: '1' }] }, facts: {}, version: 'v' },
        currency: 'USD',
        createdAt,
        deadlineAt: createdAt + 3_600_000,
        expectedSeconds: 1,
        output: '',
        hasCallback: false,
        ...change,
      };
      const unstarted = `${String(createdAt).padStart(14, '0')}-test`;
      const { key, kind, model, deadlineAt } = input;
      const hold = BigInt(input.hold);
      await ledger.credit({ account, amount: 10_000_000n, reference: task });
      await stores.tasks.insert(
        { id: task, account, key, kind, model, createdAt, deadlineAt, hold, unstarted },
        1n,
      );
      await ledger.hold({ account, task, amount: hold, basis: '{}', overdraftLimit: 0n });
      return input;
    },
    drop: async (task) =>
      void (await database.db.collection<{ _id: string }>('tasks').deleteOne({ _id: task })),
    close: () => database.drop(),
  };
}

/** A task that was cancelled, and owes a callback. */
export async function endedTask(world: TaskWorld): Promise<string> {
  const input = await world.newTask();
  const { task, account, key, basis, hold: held } = input;
  await world.stores.requests.insert({
    task,
    account,
    request: { kind: 'video' } as never,
    callbackToken: randomBytes(8).toString('hex'),
    callbackUrl: 'https://me.example/hook?secret=1',
    createdAt: Date.now(),
    warnings: [],
    plan: '{}',
    by: 'test',
  });
  await world.tasks().claimTask(input, '1');
  const outcome = { kind: 'failed', error: { code: 'task_cancelled', message: 'x' } } as const;
  await world.run(() => world.tasks().finishTask({ task, account, key, basis, held, version: '2', outcome }));
  return task;
}
