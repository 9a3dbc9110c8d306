import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll } from 'vitest';
import type { ChannelActivities, TaskActivities } from '../../activities/types.ts';
import type { TaskInput } from '../../src/domain/task-input.ts';
import { temporalAddress } from '../support/run-servers.ts';

/** Workflows of tasks on a real Temporal, of which a test plays the activities. */
export interface PlayedTasks {
  readonly client: Client;
  start(change?: Partial<TaskInput>): Promise<WorkflowHandle>;
  /** Names of the history's events so far, without those that a task always begins with. */
  failedWorkflowTasks(handle: WorkflowHandle): Promise<number>;
}

export interface Played {
  readonly task: Partial<TaskActivities>;
  readonly channel: Partial<ChannelActivities>;
}

/** Channels `one` and `two`. */
export function usePlayedTasks({ task, channel }: Played): PlayedTasks {
  const prefix = `p${randomBytes(5).toString('hex')}-`;
  let client: Client;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    const address = temporalAddress();
    const [connection, clientConnection, workflowBundle] = await Promise.all([
      NativeConnection.connect({ address }),
      Connection.connect({ address }),
      bundleWorkflowCode({
        workflowsPath: fileURLToPath(new URL('../../workflows/index.ts', import.meta.url)),
      }),
    ]);
    client = new Client({ connection: clientConnection });
    const workers = await Promise.all([
      Worker.create({ connection, workflowBundle, taskQueue: `${prefix}tasks`, activities: { ...task } }),
      ...['one', 'one-polls', 'two', 'two-polls'].map((id) =>
        Worker.create({ connection, taskQueue: `${prefix}channel-${id}`, activities: { ...channel } }),
      ),
    ]);
    const running = workers.map((worker) => worker.run());
    stop = async () => {
      for (const worker of workers) worker.shutdown();
      await Promise.all(running);
      await Promise.all([connection.close(), clientConnection.close()]);
    };
  });
  afterAll(() => stop());
  return {
    get client() {
      return client;
    },
    start(change = {}) {
      const id = `task_${randomBytes(12).toString('hex')}`;
      return client.workflow.start('generationTask', {
        workflowId: id,
        taskQueue: `${prefix}tasks`,
        args: [{ ...newInput(id), ...change }],
      });
    },
    async failedWorkflowTasks(handle) {
      const { events } = await handle.fetchHistory();
      return (events ?? []).filter((event) => Boolean(event.workflowTaskFailedEventAttributes)).length;
    },
  };
}

function newInput(task: string): TaskInput {
  const now = Date.now();
  return {
    task,
    account: 'a',
    key: 'k',
    kind: 'video',
    model: 'm',
    candidates: [
      { channel: 'one', credential: 'a' },
      { channel: 'two', credential: 'b' },
    ],
    hold: '1500000',
    currency: 'USD',
    basis: { version: 'v', price: { unit: 'call', minimum: '0', rules: [] }, facts: {} },
    createdAt: now,
    deadlineAt: now + 3_600_000,
    expectedSeconds: 1,
    hasCallback: false,
    revision: 3,
  };
}
