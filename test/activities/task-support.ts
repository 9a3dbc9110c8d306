import { randomBytes } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { Db } from 'mongodb';
import type { CallbackActivityDeps, TaskActivityDeps } from '../../activities/deps.ts';
import { createFinishTask } from '../../activities/finish.ts';
import { createCallbackActivities } from '../../activities/index.ts';
import { createTaskSteps } from '../../activities/look.ts';
import { createReconcileTasks } from '../../activities/reconcile.ts';
import { createFirstCallback, type FirstCallbackDeps } from '../../activities/first-callback.ts';
import type { TaskActivities } from '../../activities/types.ts';
import { createPromptHosts } from '../../src/capacity/prompt-hosts.ts';
import { createHostPlaces } from '../../src/capacity/host-places.ts';
import type { TaskInput } from '../../src/task/input.ts';
import type { Task } from '../../src/task/record.ts';
import { ensureLedgerIndexes, ledgerCollection } from '../../src/ledger/collection.ts';
import { createLedger, type Ledger } from '../../src/ledger/ledger.ts';
import { createLogger } from '../../src/observability/log.ts';
import { createStores, ensureStoreIndexes, type Stores } from '../../src/store/stores.ts';
import { toDocument, type TaskDocument } from '../../src/store/task-document.ts';
import { createAbandonCreation } from '../../src/commands/abandon-creation.ts';
import { openDatabase } from '../capacity/support.ts';
import { testLedgerKey, testSealing } from '../support/sealing.ts';

type TaskSide = Pick<TaskActivities, 'lookAtTask' | 'stepTask' | 'finishTask' | 'reconcileTasks'>;

/** Temporal's clock, which is independent of MongoDB's. */
const temporalMs = 5_000_000;

interface Wait {
  readonly ms: number;
  /** How long ago the activity was scheduled, by Temporal's clock. */
  readonly elapsedMs?: number;
}

/**
 * Runs the activities of the `tasks` and `callbacks` queues against a real MongoDB. The test plays the part of
 * Temporal.
 */
export interface TaskWorld {
  readonly db: Db;
  readonly stores: Stores;
  readonly ledger: Ledger;
  readonly clock: { aheadMs: number };
  readonly workflows: { failing: string[]; running: Set<string>; closed: Set<string>; fails: Set<string> };
  readonly started: TaskInput[];
  readonly owed: string[];
  readonly signalled: (readonly (string | undefined)[])[];
  readonly logged: string[];
  tasks(change?: Partial<TaskActivityDeps>): TaskSide;
  deliver(deps: Partial<CallbackActivityDeps>, task: string, round?: string, wait?: Wait): Promise<void>;
  firstCallback(deps: Partial<FirstCallbackDeps>): TaskActivities['firstCallback'];
  run<Result>(activity: () => Promise<Result>): Promise<Result>;
  newTask(change?: Partial<TaskInput>): Promise<TaskInput>;
  begun(change?: Partial<TaskInput>, record?: Partial<Task>): Promise<TaskInput>;
  record(input: Pick<TaskInput, 'task'>): Promise<Task>;
  rewrite(task: string, change: Partial<Task>): Promise<void>;
  drop(task: string): Promise<void>;
  clear(): Promise<void>;
  close(): Promise<void>;
}

export async function openTaskWorld(): Promise<TaskWorld> {
  const database = await openDatabase();
  const clock = { aheadMs: 0 };
  const now = () => Date.now() + clock.aheadMs;
  const stores = createStores(database.db, now, testSealing);
  await Promise.all([ensureStoreIndexes(stores), ensureLedgerIndexes(database.db)]);
  const documents = database.db.collection<TaskDocument>('tasks');
  const ledger = createLedger({ collection: ledgerCollection(database.db), key: testLedgerKey, now });
  const workflows: TaskWorld['workflows'] = {
    failing: [],
    running: new Set(),
    closed: new Set(),
    fails: new Set(),
  };
  const owed: string[] = [];
  const started: TaskInput[] = [];
  const logged: string[] = [];
  const signalled: TaskWorld['signalled'] = [];
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
        waitMs: 0,
        now,
        random: Math.random,
      });
    return {
      ...stores,
      webhookSecrets: async () => [`whsec_${Buffer.alloc(24).toString('base64')}`],
      places,
      promptHosts: createPromptHosts({ places, callsMax: 100, avoidMs: 60_000, now }),
      sleep: () => new Promise(() => undefined),
      post: async () => ({ status: 200 }),
      present: ({ id }) => JSON.stringify({ id }),
      log,
      now,
      ...change,
    };
  };
  const world: TaskWorld = {
    db: database.db,
    stores,
    ledger,
    clock,
    workflows,
    started,
    owed,
    signalled,
    logged,
    tasks: (change = {}) => {
      const deps: TaskActivityDeps = {
        ...createStores(database.db, now, testSealing),
        ledger,
        channels: () => undefined,
        slots: { release: async () => undefined },
        metrics: { countEnded: () => undefined, countMargin: () => undefined },
        charges: { note: () => undefined },
        workflows: {
          async *running() {
            yield* workflows.running;
          },
          async *failing() {
            yield* workflows.failing;
          },
          tryNow: async () => ({ kind: 'busy' }),
          isRunning: async (id) => workflows.running.has(id),
          async find(id) {
            if (workflows.fails.has(id)) throw new Error(`Temporal does not report ${id}`);
            if (workflows.running.has(id)) return 'running';
            return workflows.closed.has(id) ? 'closed' : undefined;
          },
        },
        workers: async () => ({ unserved: () => undefined }),
        signals: {
          concern: async (task, concern) => void signalled.push([task, concern]),
          unserved: async (task, channels) => void signalled.push([task, ...channels]),
        },
        isConfigCurrent: () => true,
        isTimeRight: () => true,
        start: async (input) => {
          started.push(input);
          workflows.running.add(input.task);
        },
        termsOf: () => ({ currency: 'USD', expectedSeconds: 1 }),
        abandonCreation: createAbandonCreation({ ...stores, ledger }),
        owedCallback: async (task) => void owed.push(task),
        upkeep: [],
        upkeepFailures: stores.upkeepFailures,
        log,
        now,
        ...change,
      };
      return {
        ...createTaskSteps(deps),
        finishTask: createFinishTask(deps),
        reconcileTasks: createReconcileTasks(deps),
      };
    },
    deliver: (change, task, round, { ms, elapsedMs = 0 } = { ms: 0 }) =>
      new MockActivityEnvironment({
        scheduledTimestampMs: temporalMs,
        currentAttemptScheduledTimestampMs: temporalMs + elapsedMs,
      }).run(() => createCallbackActivities(callbackDeps(change)).deliverCallback(task, round, ms)),
    firstCallback: (change) => createFirstCallback(callbackDeps(change)),
    run: (activity) => new MockActivityEnvironment().run(activity),
    async newTask(change = {}) {
      const task = `task_${randomBytes(12).toString('hex')}`;
      const account = `acc-${randomBytes(6).toString('hex')}`;
      const input: TaskInput = {
        task,
        account,
        key: 'key_1',
        kind: 'video',
        model: 'seedance',
        candidates: [{ channel: 'ark', credential: 'a' }],
        hold: '1000000',
        basis: { price: { minimum: '0', lines: [{ measure: 'call', price: '1' }] }, facts: {}, version: 'v' },
        currency: 'USD',
        deadlineAt: now() + 3_600_000,
        expectedSeconds: 1,
        hasCallback: false,
        ...change,
      };
      const hold = BigInt(input.hold);
      await ledger.credit({ account, amount: 10_000_000n, reference: task });
      await stores.tasks.insert(firstRecord(input, now()));
      await ledger.hold({
        account,
        task,
        by: { key: 'key_1', model: 'video-1' },
        amount: hold,
        basis: JSON.stringify(input.basis),
        overdraftLimit: 0n,
      });
      return input;
    },
    async begun(change, record = {}) {
      const input = await world.newTask(change);
      await world.rewrite(input.task, record);
      return input;
    },
    async record({ task }) {
      const found = await stores.tasks.find(task);
      if (found === undefined) throw new Error('the task has no record');
      return found;
    },
    async rewrite(task, change) {
      const record = await world.record({ task });
      const before = { ...record, state: begunState(record.state) };
      const after = { ...before, rev: before.rev + 1, ...change };
      await documents.replaceOne({ _id: task }, toDocument(after));
      stores.tasks.forget(task);
    },
    drop: async (task) => {
      await documents.deleteOne({ _id: task });
      stores.tasks.forget(task);
    },
    async clear() {
      for (const collection of await database.db.collections()) await collection.deleteMany({});
      for (const list of [owed, started, signalled, logged]) list.length = 0;
      for (const ids of [workflows.running, workflows.closed, workflows.fails]) ids.clear();
      workflows.failing = [];
      clock.aheadMs = 0;
    },
    close: () => database.drop(),
  };
  return world;
}

function begunState(state: Task['state']): Task['state'] {
  if (state.at !== 'creating') return state;
  const { tryId: _, ...round } = state;
  return { ...round, at: 'queued' };
}

export function begunRecord(input: TaskInput, at: number): Task {
  const record = firstRecord(input, at);
  return { ...record, state: begunState(record.state) };
}

export function tryOf({ state }: Task): string {
  if (state.at !== 'creating') throw new Error(`the task is ${state.at}`);
  return state.tryId;
}

function firstRecord(input: TaskInput, at: number): Task {
  const { task: id, account, key, kind, model, candidates, deadlineAt, hasCallback } = input;
  return {
    id,
    account,
    key,
    kind,
    model,
    plan: { candidates },
    createdAt: at,
    deadlineAt,
    output: '',
    hold: BigInt(input.hold),
    hasCallback,
    rev: 0,
    state: {
      at: 'creating',
      tryId: `${String(at).padStart(14, '0')}-test`,
      round: 1,
      left: candidates,
      full: [],
    },
    stateSince: at,
    status: 'pending',
    attempts: [],
    updatedAt: at,
    traceId: '',
  };
}

export function acceptedAttempt(upstreamId: string): Task['attempts'][number] {
  const candidate = { channel: 'ark', credential: 'a' };
  return {
    ...candidate,
    n: 1,
    state: 'accepted',
    marker: 'm',
    owner: 'o',
    startedAt: 1,
    operation: { id: upstreamId },
  };
}

export async function endedTask(world: TaskWorld): Promise<string> {
  const input = await world.begun({ hasCallback: true });
  const { task, account } = input;
  await world.stores.requests.insert({
    task,
    account,
    request: { kind: 'video', prompt: 'p' } as never,
    callbackToken: randomBytes(8).toString('hex'),
    callbackUrl: 'https://me.example/hook?secret=1',
    deadlineAt: Date.now(),
    warnings: [],
    dropped: [],
    by: 'test',
  });
  const activities = world.tasks();
  await world.run(() => activities.stepTask(task, { kind: 'wanted', stop: 'cancel' }));
  await world.run(() => activities.finishTask(input));
  return task;
}
