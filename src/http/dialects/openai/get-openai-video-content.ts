import { z } from 'zod';
import { GatewayError } from '../../../errors/errors.ts';
import { keyRoute } from '../../route.ts';
import type { Route } from '../../route.ts';
import { findOwnTask } from '../../videos/own-task.ts';
import { contentOperation, replyWithContent } from '../../videos/video-content.ts';
import { openaiDialect, openaiParams, openaiVideoAddress } from './openai-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';

const query = z.object({
  variant: z.enum(['video', 'thumbnail', 'spritesheet']).default('video').meta({
    description:
      '`thumbnail` is the last frame, where the model gave one (some do when `return_last_frame` asks for it); otherwise, and for `spritesheet`, 404.',
  }),
});

export function getOpenaiVideoContent({ tasks, keptResults }: DialectDeps): Route {
  return keyRoute({
    ...contentOperation,
    operationId: 'getOpenaiVideoContent',
    scope: 'read_own',
    summary: 'Fetch the file of a video',
    dialect: openaiDialect,
    paths: ['/v1/videos/:task_id/content'],
    only: openaiVideoAddress,
    input: z.object({ params: openaiParams, query }),
    errors: ['task_not_found', 'unsupported_parameter'],
    statuses: { unsupported_parameter: 404 },
    async handle({ params, query: { variant }, reach, meta }) {
      const task = await findOwnTask(tasks, { id: params.task_id, reach, kind: 'video' });
      if (variant === 'spritesheet') {
        const message = 'There is no spritesheet of a video: this gateway decodes none.';
        throw new GatewayError('unsupported_parameter', message, { param: 'variant' });
      }
      const part = variant === 'thumbnail' ? 'last_frame' : 'video';
      return replyWithContent(task, { index: 0, meta, part }, keptResults);
    },
  });
}
