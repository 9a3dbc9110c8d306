import { createHash } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { GatewayError, invalidParameter } from '../errors/errors.ts';
import { defined } from '../base/defined.ts';
import { tasksOf } from '../base/queues.ts';
import type { FoundTasks, TaskSearch } from '../commands/task-port.ts';
import { refusedQuery } from './refused-query.ts';

export function createTaskSearch(client: Client, queuePrefix: string) {
  const ours = tasksOf(queuePrefix);
  return async function search({ query, limit, page }: TaskSearch): Promise<FoundTasks> {
    const { namespace } = client.options;
    const token = page === undefined ? undefined : readPage(page);
    try {
      const { executions, nextPageToken } = await client.workflowService.listWorkflowExecutions({
        namespace,
        pageSize: limit,
        // Count each task once, although a task with a long history has several runs.
        query: `(${query}) AND ${ours} AND ExecutionStatus != 'ContinuedAsNew'`,
        ...defined({ nextPageToken: token }),
      });
      const ids = (executions ?? []).flatMap(({ execution }) => execution?.workflowId ?? []);
      const isLast = nextPageToken === undefined || nextPageToken === null || nextPageToken.length === 0;
      return isLast ? { ids } : { ids, next: writePage(nextPageToken) };
    } catch (error) {
      const refusal = refusedQuery(error);
      if (refusal === undefined) throw error;
      throw new GatewayError('invalid_parameter', `Temporal rejects the query: ${refusal.details}`, {
        param: 'query',
        cause: error,
      });
    }
  };
}

/**
 * Adds a checksum to Temporal's page token, so that the gateway can reject invalid tokens itself. Temporal treats an
 * invalid token either as its own failure, which is retried for seconds, or as the end of the list.
 */
function writePage(token: Uint8Array): string {
  return Buffer.concat([checkSum(token), token]).toString('base64url');
}

function readPage(page: string): Buffer {
  const bytes = Buffer.from(page, 'base64url');
  const token = bytes.subarray(checkSumBytes);
  if (token.length > 0 && bytes.subarray(0, checkSumBytes).equals(checkSum(token))) return token;
  throw invalidParameter('page', 'The parameter page must be the next_page of the previous page.');
}

const checkSumBytes = 4;

function checkSum(token: Uint8Array): Buffer {
  return createHash('sha256').update(token).digest().subarray(0, checkSumBytes);
}
