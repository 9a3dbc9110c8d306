import { z } from 'zod';
import { jsonReply, keyRoute, type Route } from '../../route.ts';
import { findOwnTask, taskParams } from '../../videos/own-task.ts';
import { progressHeaders } from '../../videos/query-task.ts';
import { arkDialect } from './ark-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { arkTaskSchema, presentArkTask } from './ark-task.ts';

export function getArkTask(deps: DialectDeps): Route {
  return keyRoute({
    operationId: 'getArkTask',
    scope: 'read_own',
    summary: 'Query a video generation task',
    description: 'Works for all of the account’s video tasks, whichever API created them.',
    dialect: arkDialect,
    method: 'get',
    reads: 'one',
    paths: ['/api/v3/contents/generations/tasks/:task_id'],
    input: z.object({ params: taskParams }),
    success: { description: 'The task’s current state.', schema: arkTaskSchema },
    errors: ['task_not_found'],
    async handle({ params, reach }) {
      const task = await findOwnTask(deps.tasks, { id: params.task_id, reach, kind: 'video' });
      const request = (await deps.requests.find(task.id))?.request;
      return jsonReply(
        presentArkTask(task, { request, mediaUrl: deps.mediaUrl }),
        progressHeaders(task, deps),
      );
    },
  });
}
