import { z } from 'zod';
import { jsonReply, keyRoute, type Route } from '../../route.ts';
import { findOwnTask } from '../../videos/own-task.ts';
import { progressHeaders } from '../../videos/query-task.ts';
import { openaiDialect, openaiParams, openaiVideoAddress } from './openai-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { openaiVideoSchema, presentOpenaiVideo } from './openai-video.ts';

export function getOpenaiVideo(deps: DialectDeps): Route {
  return keyRoute({
    operationId: 'getOpenaiVideo',
    scope: 'read_own',
    summary: 'Query a video',
    description:
      'Works for all of the account’s video tasks, whichever API created them. While the task is unfinished, the response has the header `openai-poll-after-ms`, which the official clients obey.',
    dialect: openaiDialect,
    method: 'get',
    reads: 'one',
    paths: ['/v1/videos/:task_id'],
    only: openaiVideoAddress,
    input: z.object({ params: openaiParams }),
    success: { description: 'The video’s current state.', schema: openaiVideoSchema },
    errors: ['task_not_found'],
    async handle({ params, reach }) {
      const task = await findOwnTask(deps.tasks, { id: params.task_id, reach, kind: 'video' });
      const request = (await deps.requests.find(task.id))?.request;
      const video = presentOpenaiVideo(task, { request, mediaUrl: deps.mediaUrl });
      const headers = progressHeaders(task, deps);
      const { 'retry-after': seconds } = headers;
      const pollAfter = seconds === undefined ? {} : { 'openai-poll-after-ms': `${seconds}000` };
      return jsonReply(video, { ...headers, ...pollAfter });
    },
  });
}
