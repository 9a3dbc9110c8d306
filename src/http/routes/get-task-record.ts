import { z } from 'zod';
import { readTaskRecord } from '../../flight/read-record.ts';
import { flightRecordSchema } from '../../flight/flight-record.ts';
import type { RouteDeps } from '../deps.ts';
import { taskNotFound, taskParams } from '../videos/own-task.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

type Deps = Pick<
  RouteDeps,
  'tasks' | 'requests' | 'exchanges' | 'resultCopies' | 'ledger' | 'channels' | 'taskHistory' | 'now'
>;

export function getTaskRecord(deps: Deps): Route {
  return adminRoute({
    operationId: 'getTaskRecord',
    access: 'read',
    summary: 'Show everything that happened to a task, in order',
    method: 'get',
    paths: ['/admin/v1/tasks/:task_id/record'],
    input: z.object({
      params: taskParams,
      query: z.object({
        history: z.enum(['true', 'false']).optional().meta({
          description:
            'If `true`, the response includes the task’s workflow history, provided that Temporal still has it.',
        }),
      }),
    }),
    success: {
      description: 'The flight record that `tasks export` writes.',
      schema: flightRecordSchema,
    },
    errors: ['task_not_found'],
    async handle({ params: { task_id: id }, query }) {
      const sources = { ...deps, history: deps.taskHistory };
      const record = await readTaskRecord(sources, id, { history: query.history === 'true' });
      if (record === undefined) throw taskNotFound();
      return jsonReply(record);
    },
  });
}
