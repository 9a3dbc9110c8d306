import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { WorkflowLookup } from '../../activities/deps.ts';
import { tryNow, type WakeRequest } from './wake-activity.ts';
import { refusedQuery } from './refused-query.ts';
import { defined } from '../base/defined.ts';
import { tasksOf } from '../base/queues.ts';

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

export async function isRunning(client: Client, id: string): Promise<boolean> {
  return (await findRun(client, id)) === 'running';
}

/** Returns undefined if Temporal never had the workflow, has lost it, or no longer keeps it. */
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
 * Yields the ids of workflows that the Temporal server has marked as failing. The server removes the mark after the
 * first successful step. Servers before 1.30 do not support this, and self-hosted servers must enable it in their
 * dynamic configuration.
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
