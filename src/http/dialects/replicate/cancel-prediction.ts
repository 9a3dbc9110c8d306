import { z } from 'zod';
import { isTerminal } from '../../../task/task.ts';
import { jsonReply, keyRoute, type Route } from '../../route.ts';
import { cancelTask } from '../../videos/cancel-task.ts';
import { findOwnTask, taskParams } from '../../videos/own-task.ts';
import { predictionSchema, presentPrediction } from './prediction.ts';
import { replicateDialect } from './replicate-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';

export function cancelPrediction(deps: DialectDeps): Route {
  const { mediaUrl, publicUrl } = deps;
  return keyRoute({
    operationId: 'cancelPrediction',
    scope: 'create',
    summary: 'Cancel a prediction',
    description:
      'A finished prediction does not change. If the upstream does not cancel the job, the prediction keeps running and the response is 409.',
    dialect: replicateDialect,
    method: 'post',
    paths: ['/v1/predictions/:task_id/cancel'],
    input: z.object({ params: taskParams }),
    success: { description: 'The prediction’s current state.', schema: predictionSchema },
    errors: ['task_not_found', 'task_not_cancellable'],
    async handle({ params, reach }) {
      const found = await findOwnTask(deps.tasks, { id: params.task_id, reach });
      const task = isTerminal(found.status) ? found : await cancelTask(found, deps);
      const request = (await deps.requests.find(task.id))?.request;
      return jsonReply(presentPrediction(task, { request, mediaUrl, publicUrl }));
    },
  });
}
