import { z } from 'zod';
import { jsonReply, keyRoute, type Route } from '../../route.ts';
import { findOwnTask, taskParams } from '../../videos/own-task.ts';
import { progressHeaders } from '../../videos/query-task.ts';
import { predictionSchema, presentPrediction } from './prediction.ts';
import { replicateDialect } from './replicate-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';

export function getPrediction(deps: DialectDeps): Route {
  const { mediaUrl, publicUrl } = deps;
  return keyRoute({
    operationId: 'getPrediction',
    scope: 'read_own',
    summary: 'Query a prediction',
    description: 'Works for all of the account’s tasks, whichever API created them.',
    dialect: replicateDialect,
    method: 'get',
    reads: 'one',
    paths: ['/v1/predictions/:task_id'],
    input: z.object({ params: taskParams }),
    success: { description: 'The prediction’s current state.', schema: predictionSchema },
    errors: ['task_not_found'],
    async handle({ params, reach }) {
      const task = await findOwnTask(deps.tasks, { id: params.task_id, reach });
      const request = (await deps.requests.find(task.id))?.request;
      return jsonReply(
        presentPrediction(task, { request, mediaUrl, publicUrl }),
        progressHeaders(task, deps),
      );
    },
  });
}
