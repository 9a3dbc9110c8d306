import { z } from 'zod';
import { keyRoute, type Route } from '../../route.ts';
import { findOwnTask } from '../../videos/own-task.ts';
import { contentOperation, replyWithContent, resultNotFound } from '../../videos/video-content.ts';
import { openaiDialect, openaiParams, openaiVideoAddress } from './openai-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';

const query = z.object({
  variant: z.enum(['video', 'thumbnail', 'spritesheet']).default('video').meta({
    description:
      '`thumbnail` is the last frame, which some models deliver on request (`return_last_frame`). If the model delivered none, and for `spritesheet`, the response is 404.',
  }),
});

export function getOpenaiVideoContent(deps: DialectDeps): Route {
  return keyRoute({
    ...contentOperation,
    operationId: 'getOpenaiVideoContent',
    scope: 'read_own',
    summary: 'Fetch a video’s file',
    dialect: openaiDialect,
    paths: ['/v1/videos/:task_id/content'],
    only: openaiVideoAddress,
    input: z.object({ params: openaiParams, query }),
    async handle({ params, query: { variant }, reach, meta }) {
      const task = await findOwnTask(deps.tasks, { id: params.task_id, reach, kind: 'video' });
      if (variant === 'spritesheet')
        throw resultNotFound(
          'Spritesheets are not available, because this gateway does not decode videos.',
          'variant',
        );
      const part = variant === 'thumbnail' ? 'last_frame' : 'video';
      return replyWithContent(task, { index: 0, meta, part }, deps);
    },
  });
}
