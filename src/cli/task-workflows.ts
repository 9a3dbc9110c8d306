import { defined } from '../domain/defined.ts';
import type { Client } from '@temporalio/client';
import { decodeFromPayloadsAtIndex } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { z } from 'zod';
import { tasksOf } from '../domain/queues.ts';
import type { TaskInput, TaskResult } from '../domain/task-input.ts';

/** A task as Temporal has recorded it. */
export interface TaskWorkflow {
  readonly input: TaskInput;
  /** Absent: it runs, or was terminated. */
  readonly result?: TaskResult;
}

/** Every task workflow that Temporal still has, running or not; those whose beginning cannot be read are left out. */
export async function* listTaskWorkflows(client: Client, queuePrefix: string): AsyncIterable<TaskWorkflow> {
  const query = tasksOf(queuePrefix);
  for await (const { workflowId, status } of client.workflow.list({ query })) {
    const input = await readInput(client, workflowId);
    if (input === undefined) continue;
    const result = status.name === 'COMPLETED' ? await readResult(client, workflowId) : undefined;
    yield { input, ...defined({ result }) };
  }
}

/** The workflow's own input was written by us, under a type: only that it is one of a task is checked. */
const taskInput = z.custom<TaskInput>(
  (value) => z.object({ task: z.string(), account: z.string(), hold: z.string() }).safeParse(value).success,
);
const taskResult = z.custom<TaskResult>(
  (value) => z.object({ status: z.enum(['succeeded', 'failed', 'refused']) }).safeParse(value).success,
);

async function readInput(client: Client, id: string): Promise<TaskInput | undefined> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId: id },
    maximumPageSize: 1,
  });
  const payloads = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads;
  const decoded: unknown = await decodeFromPayloadsAtIndex(client.options.loadedDataConverter, 0, payloads);
  return taskInput.safeParse(decoded).data;
}

async function readResult(client: Client, id: string): Promise<TaskResult | undefined> {
  const result: unknown = await client.workflow.getHandle(id).result();
  return taskResult.safeParse(result).data;
}
