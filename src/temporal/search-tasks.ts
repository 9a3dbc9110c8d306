import type { Client } from '@temporalio/client';
import { GatewayError } from '../domain/errors.ts';
import { defined } from '../domain/defined.ts';
import { tasksOf } from '../domain/queues.ts';
import type { FoundTasks, TaskSearch } from '../tasks/task-port.ts';
import { refusedQuery } from './refused-query.ts';

/** A page of the tasks of this gateway that a query of Temporal's visibility finds. */
export function createTaskSearch(client: Client, queuePrefix: string) {
  const ours = tasksOf(queuePrefix);
  return async function search({ query, limit, page }: TaskSearch): Promise<FoundTasks> {
    const { namespace } = client.options;
    try {
      const { executions, nextPageToken } = await client.workflowService.listWorkflowExecutions({
        namespace,
        pageSize: limit,
        query: `(${query}) AND ${ours}`,
        ...defined({ nextPageToken: page === undefined ? undefined : Buffer.from(page, 'base64url') }),
      });
      const ids = (executions ?? []).flatMap(({ execution }) => execution?.workflowId ?? []);
      const isLast = nextPageToken === undefined || nextPageToken === null || nextPageToken.length === 0;
      return isLast ? { ids } : { ids, next: Buffer.from(nextPageToken).toString('base64url') };
    } catch (error) {
      const refusal = refusedQuery(error);
      if (refusal === undefined) throw error;
      throw new GatewayError('invalid_parameter', `Temporal refuses the query: ${refusal.details}`, {
        param: 'query',
        cause: error,
      });
    }
  };
}
