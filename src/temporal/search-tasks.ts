import { isGrpcServiceError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import { GatewayError } from '../domain/errors.ts';
import { tasksQueue, workflowTypes } from '../domain/queues.ts';
import { defined } from '../domain/defined.ts';
import type { FoundTasks, TaskSearch } from '../tasks/task-port.ts';

/** gRPC status: the query is not one. */
const grpcInvalidArgument = 3;

/** A page of the tasks of this gateway that a query of Temporal's visibility finds. */
export function createTaskSearch(client: Client, queuePrefix: string) {
  const ours = `WorkflowType = '${workflowTypes.task}' AND TaskQueue = '${tasksQueue(queuePrefix)}'`;
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
      if (!isGrpcServiceError(error) || error.code !== grpcInvalidArgument) throw error;
      throw new GatewayError('invalid_parameter', `Temporal refuses the query: ${error.details}`, {
        param: 'query',
        cause: error,
      });
    }
  };
}
