import { z } from 'zod';
import { GatewayError } from '../../../errors/errors.ts';
import { isTerminal } from '../../../task/task.ts';
import { jsonReply, keyRoute, type Route } from '../../route.ts';
import { cancelTask } from '../../videos/cancel-task.ts';
import { findOwnTask } from '../../videos/own-task.ts';
import { openaiDialect, openaiParams, openaiVideoAddress } from './openai-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';

export function deleteOpenaiVideo(deps: DialectDeps): Route {
  return keyRoute({
    operationId: 'deleteOpenaiVideo',
    scope: 'create',
    summary: 'Cancel a video',
    description:
      'Cancels an unfinished video and releases its hold. The video remains in the list as failed. A video that has ended is not removed, and the response is 409.',
    dialect: openaiDialect,
    method: 'delete',
    paths: ['/v1/videos/:task_id'],
    only: openaiVideoAddress,
    input: z.object({ params: openaiParams }),
    success: {
      description: 'The video is cancelled.',
      schema: z.object({ id: z.string(), object: z.literal('video.deleted'), deleted: z.literal(true) }),
    },
    errors: ['task_not_found', 'task_not_cancellable'],
    async handle({ params, reach }) {
      const task = await findOwnTask(deps.tasks, { id: params.task_id, reach, kind: 'video' });
      if (isTerminal(task.status)) throw isKept();
      const { id } = await cancelTask(task, deps);
      return jsonReply({ id, object: 'video.deleted', deleted: true });
    },
  });
}

function isKept(): GatewayError {
  const message =
    'The gateway’s operator decides how long a finished video is kept. Only an unfinished video can be cancelled.';
  return new GatewayError('task_not_cancellable', message, { param: 'task_id' });
}
