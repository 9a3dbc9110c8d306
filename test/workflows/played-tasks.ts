import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection, isGrpcServiceError, WorkflowUpdateFailedError } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import { NativeConnection, Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import type { ActionResult, RunningActionName, Said } from '../../src/operating/acts.ts';
import type { StateName } from '../../src/task/state.ts';
import type { Task } from '../../src/task/record.ts';
import type { TaskInput } from '../../src/task/input.ts';
import { replayError } from '../support/replay-error.ts';
import { bundleWorkflows } from '../../src/temporal/workflow-bundle.ts';
import { cancelUpdate } from '../../workflows/messages.ts';
import { temporalAddress } from '../support/run-servers.ts';
import { newInput } from '../temporal/support.ts';
import type { PlayedRecords } from './played-records.ts';
import { playActivities, quietUpstream, type Upstream } from './played-upstream.ts';

/**
 * Runs task workflows on a real Temporal, with records in memory and an upstream that the test controls. After the
 * tests of a file, every history is replayed.
 */
export interface PlayedTasks {
  readonly client: Client;
  readonly upstream: Upstream;
  readonly records: PlayedRecords;
  start(change?: Partial<TaskInput>, changed?: Partial<Task>): Promise<PlayedTask>;
}

export interface PlayedTask {
  readonly id: string;
  readonly handle: WorkflowHandle;
  record(): Task;
  calls(): readonly string[];
  reaches(at: StateName): Promise<void>;
  called(call: string, times?: number): Promise<void>;
  act(name: RunningActionName, input?: unknown): Promise<ActionResult>;
  did(name: RunningActionName, input?: unknown): Promise<Said>;
  cancel(): Promise<{ readonly cancelled: true } | { readonly cancelled: false; readonly message: string }>;
  refusal(name: RunningActionName, input?: unknown): Promise<string>;
  details(): Promise<string>;
  attribute(name: string): Promise<unknown>;
  end(): Promise<unknown>;
  events(): Promise<NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>>;
  failedWorkflowTasks(): Promise<readonly string[]>;
  replayError(): Promise<string | undefined>;
  reset(eventId: number): Promise<PlayedTask>;
}

const grpcCrossed = 9;
const repeatAfterMs = 50;

/**
 * Repeats the update under the same id if the server discards the workflow task that the update met. The task client
 * does the same.
 */
export async function uncrossed<Result>(update: (updateId: string) => Promise<Result>): Promise<Result> {
  const updateId = randomUUID();
  for (;;) {
    try {
      return await update(updateId);
    } catch (error) {
      const reason = error instanceof Error ? error.cause : undefined;
      if (!isGrpcServiceError(reason) || Number(reason.code) !== grpcCrossed) throw error;
    }
    await delay(repeatAfterMs);
  }
}

/**
 * Causes of a failed workflow task that are not the workflow's fault. An event or update arrived just as the task was
 * finishing, or the workflow was reset at that point.
 */
const crossed: ReadonlySet<number> = new Set([1, 20, 31]);

/** Workers serve the channels `one` and `two`. The queues of all other channels have no worker. */
export function usePlayedTasks(server: () => string = temporalAddress): PlayedTasks {
  const prefix = `p${randomBytes(5).toString('hex')}-`;
  let upstream = quietUpstream();
  const played = playActivities(() => upstream);
  const { records } = played;
  let client: Client;
  let stop: () => Promise<void>;
  let workflowBundle: WorkflowBundleWithSourceMap;
  const started: PlayedTask[] = [];
  beforeEach(() => {
    upstream = quietUpstream();
  });
  beforeAll(async () => {
    const address = server();
    const [connection, clientConnection, bundle] = await Promise.all([
      NativeConnection.connect({ address }),
      Connection.connect({ address }),
      bundleWorkflows(),
    ]);
    client = new Client({ connection: clientConnection });
    workflowBundle = bundle;
    const activitiesOn = (queue: string, activities: object) =>
      Worker.create({
        connection,
        taskQueue: `${prefix}${queue}`,
        activities: { ...activities },
        maxHeartbeatThrottleInterval: '1s',
      });
    const workers = await Promise.all([
      Worker.create({
        connection,
        workflowBundle,
        taskQueue: `${prefix}tasks`,
        activities: { ...played.task },
      }),
      ...['one', 'one:polls', 'two', 'two:polls'].map((id) => activitiesOn(`channel-${id}`, played.channel)),
      activitiesOn('callbacks', played.callback),
    ]);
    const running = workers.map((worker) => worker.run());
    stop = async () => {
      for (const worker of workers) worker.shutdown();
      await Promise.all(running);
      await Promise.all([connection.close(), clientConnection.close()]);
    };
  });
  afterAll(async () => {
    try {
      for (const task of started) {
        expect({ task: task.id, error: await task.replayError() }).toEqual({
          task: task.id,
          error: undefined,
        });
        await task.handle.terminate().catch(() => undefined);
      }
    } finally {
      await stop();
    }
  });

  function playOne(handle: WorkflowHandle, runId: string): PlayedTask {
    const id = handle.workflowId;
    const calls = (): readonly string[] => played.calls.get(id) ?? [];
    const events = async () => (await client.workflow.getHandle(id, runId).fetchHistory()).events ?? [];
    const act: PlayedTask['act'] = (name, input = {}) => {
      const given = typeof input === 'object' && input !== null ? { reason: 'r', by: 'op', ...input } : input;
      return uncrossed((updateId) =>
        handle.executeUpdate<ActionResult, [unknown]>(name, { args: [given], updateId }),
      );
    };
    const task: PlayedTask = {
      id,
      handle,
      async cancel() {
        let tries = 0;
        const asked = uncrossed((updateId) => {
          tries += 1;
          return handle.executeUpdate(cancelUpdate, { updateId });
        });
        // The update may have been executed even though the server discarded its workflow task, so check the record, as
        // the API does.
        const isDone = () => tries > 1 && records.of(id).error?.code === 'task_cancelled';
        try {
          await asked;
          return { cancelled: true };
        } catch (error) {
          if (isDone()) return { cancelled: true };
          return { cancelled: false, message: await refusalOf(Promise.reject(error)) };
        }
      },
      record: () => records.of(id),
      calls,
      reaches: (at) => expect.poll(() => records.of(id).state.at).toBe(at),
      called: (call, times = 1) =>
        expect.poll(() => calls().filter((one) => one === call).length).toBeGreaterThanOrEqual(times),
      act,
      async did(name, input) {
        const result = await act(name, input);
        if ('would' in result) throw new Error('it was a dry run');
        return result.did;
      },
      refusal: async (name, input) => refusalOf(act(name, input)),
      async details() {
        const metadata: { currentDetails?: string } = await handle.query('__temporal_workflow_metadata');
        return metadata.currentDetails ?? '';
      },
      attribute: async (name) => (await handle.describe()).searchAttributes[name],
      end: () => handle.result(),
      events,
      async failedWorkflowTasks() {
        const failures = (await events()).flatMap((event) => event.workflowTaskFailedEventAttributes ?? []);
        return failures.flatMap(({ cause, failure }) =>
          crossed.has(cause ?? 0) ? [] : [`${cause}: ${failure?.message}`],
        );
      },
      replayError: async () => {
        const history = await client.workflow.getHandle(id, runId).fetchHistory();
        return replayError(id, history, { workflowBundle });
      },
      async reset(eventId) {
        const { runId: next } = await client.workflowService.resetWorkflowExecution({
          namespace: 'default',
          workflowExecution: { workflowId: id, runId },
          workflowTaskFinishEventId: eventId as never,
          reason: 'a test',
          requestId: randomBytes(8).toString('hex'),
        });
        return track(playOne(client.workflow.getHandle(id), next));
      },
    };
    return task;
  }

  function track(task: PlayedTask): PlayedTask {
    started.push(task);
    return task;
  }

  return {
    get client() {
      return client;
    },
    get upstream() {
      return upstream;
    },
    records,
    async start(change = {}, changed) {
      const deadlineAt = Date.now() + 3_600_000;
      const candidates = [{ channel: 'one', credential: 'a' }];
      const input = { ...newInput(), candidates, hold: '1500000', currency: 'USD', deadlineAt, ...change };
      records.create(input);
      if (changed !== undefined) records.put(input.task, changed);
      const handle = await client.workflow.start('generationTask', {
        workflowId: input.task,
        taskQueue: `${prefix}tasks`,
        args: [input],
      });
      return track(playOne(client.workflow.getHandle(input.task), handle.firstExecutionRunId));
    },
  };
}

export async function refusalOf(update: Promise<unknown>): Promise<string> {
  try {
    await update;
  } catch (error) {
    expect(error).toBeInstanceOf(WorkflowUpdateFailedError);
    const cause: unknown = error instanceof Error ? error.cause : undefined;
    return cause instanceof Error ? cause.message : '';
  }
  throw new Error('the action was not refused');
}

export const both = [
  { channel: 'one', credential: 'a' },
  { channel: 'two', credential: 'b' },
] as const;

export function signal(): { readonly given: Promise<void>; readonly give: () => void } {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => (give = resolve));
  return { given, give };
}
