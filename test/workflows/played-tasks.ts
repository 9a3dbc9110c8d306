import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { afterAll, beforeAll, expect } from 'vitest';
import type { ChannelActivities, TaskActivities } from '../../activities/types.ts';
import type { TaskInput } from '../../src/domain/task-input.ts';
import { replayError } from '../../src/temporal/replay-error.ts';
import { temporalAddress } from '../support/run-servers.ts';
import { newInput } from '../temporal/support.ts';

/** Workflows of tasks on a real Temporal, of which a test plays the activities. After its tests, their histories are replayed. */
export interface PlayedTasks {
  readonly client: Client;
  start(change?: Partial<TaskInput>): Promise<WorkflowHandle>;
  failedWorkflowTasks(handle: WorkflowHandle): Promise<number>;
  /** Why a worker that starts anew could not continue the task. */
  replayError(handle: WorkflowHandle): Promise<string | undefined>;
}

export interface Played {
  readonly task: Partial<TaskActivities>;
  readonly channel: Partial<ChannelActivities>;
  /** Instead of the whole workflow of a task. */
  readonly workflow?: { readonly type: string; readonly module: URL };
}

/**
 * Causes of a failed workflow task for which the workflow cannot be blamed: an event or an update came while it was about
 * to end, and the server hands the task out once more.
 */
const crossed: ReadonlySet<number> = new Set([1, 31]);

const wholeTask = { type: 'generationTask', module: new URL('../../workflows/index.ts', import.meta.url) };

/** Channels `one` and `two`. */
export function usePlayedTasks({ task, channel, workflow = wholeTask }: Played): PlayedTasks {
  const prefix = `p${randomBytes(5).toString('hex')}-`;
  let client: Client;
  let stop: () => Promise<void>;
  let workflowBundle: WorkflowBundleWithSourceMap;
  const started: WorkflowHandle[] = [];
  beforeAll(async () => {
    const address = temporalAddress();
    const [connection, clientConnection, bundle] = await Promise.all([
      NativeConnection.connect({ address }),
      Connection.connect({ address }),
      bundleWorkflowCode({ workflowsPath: fileURLToPath(workflow.module) }),
    ]);
    client = new Client({ connection: clientConnection });
    workflowBundle = bundle;
    const workers = await Promise.all([
      Worker.create({ connection, workflowBundle, taskQueue: `${prefix}tasks`, activities: { ...task } }),
      ...['one', 'one-polls', 'two', 'two-polls'].map((id) =>
        Worker.create({
          connection,
          taskQueue: `${prefix}channel-${id}`,
          activities: { ...channel },
          maxHeartbeatThrottleInterval: '1s',
        }),
      ),
    ]);
    const running = workers.map((worker) => worker.run());
    stop = async () => {
      for (const worker of workers) worker.shutdown();
      await Promise.all(running);
      await Promise.all([connection.close(), clientConnection.close()]);
    };
  });
  afterAll(async () => {
    // A worker that starts anew, or has forgotten a task, continues it from its history.
    try {
      await replayAll();
    } finally {
      await stop();
    }
  });

  const errorOf = async (handle: WorkflowHandle) =>
    replayError(handle.workflowId, await handle.fetchHistory(), { workflowBundle });

  async function replayAll(): Promise<void> {
    for (const handle of started) {
      const found = { task: handle.workflowId, error: await errorOf(handle) };
      expect(found).toEqual({ task: handle.workflowId, error: undefined });
    }
  }

  return {
    get client() {
      return client;
    },
    async start(change = {}) {
      const deadlineAt = Date.now() + 3_600_000;
      const input = { ...newInput(), hold: '1500000', currency: 'USD', deadlineAt, ...change };
      const handle = await client.workflow.start(workflow.type, {
        workflowId: input.task,
        taskQueue: `${prefix}tasks`,
        args: [input],
      });
      started.push(handle);
      return handle;
    },
    replayError: errorOf,
    async failedWorkflowTasks(handle) {
      const { events } = await handle.fetchHistory();
      const failures = (events ?? []).flatMap((event) => event.workflowTaskFailedEventAttributes ?? []);
      return failures.filter(({ cause }) => !crossed.has(cause ?? 0)).length;
    },
  };
}
