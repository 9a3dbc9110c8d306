import { WorkflowNotFoundError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import type { WorkflowLookup } from '../../activities/deps.ts';
import { tryNow } from './wake-activity.ts';
import type { WakeRequest } from './wake-activity.ts';
import { refusedQuery } from './refused-query.ts';
import { defined } from '../base/defined.ts';
import { tasksOf } from '../base/queues.ts';

/** What the reconciler and `ledger verify` ask Temporal about the workflows of tasks. */
export function createWorkflowLookup(
  client: Client,
  queuePrefix: string,
  endStay?: WakeRequest['endStay'],
): WorkflowLookup {
  const ours = tasksOf(queuePrefix);
  return {
    failing: () => failingIds(client, `${ours} AND ExecutionStatus = 'Running'`),
    running: () => ids(client, `${ours} AND ExecutionStatus = 'Running'`),
    tryNow: (task, activity) => tryNow(client, { task, activities: [activity], ...defined({ endStay }) }),
    isRunning: (id) => isRunning(client, id),
    find: (id) => findRun(client, id),
  };
}

/** Also of one that is paused. Rejects when Temporal does not answer. */
export async function isRunning(client: Client, id: string): Promise<boolean> {
  return (await findRun(client, id)) === 'running';
}

/** Undefined: Temporal never had the workflow, has lost it, or keeps it no longer. */
async function findRun(client: Client, id: string): Promise<'running' | 'closed' | undefined> {
  try {
    const { name } = (await client.workflow.getHandle(id).describe()).status;
    return name === 'RUNNING' || name === 'PAUSED' ? 'running' : 'closed';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/**
 * Temporal's server marks them, and takes the mark away with the first step that succeeds. A server before 1.30 does not know
 * the mark; one of your own sets it where its dynamic configuration says so.
 */
async function* failingIds(client: Client, among: string): AsyncIterable<string> {
  try {
    yield* ids(client, `${among} AND TemporalReportedProblems IS NOT NULL`);
  } catch (error) {
    if (refusedQuery(error) === undefined) throw error;
  }
}

async function* ids(client: Client, query: string): AsyncIterable<string> {
  for await (const { workflowId } of client.workflow.list({ query })) yield workflowId;
}
