import { z } from 'zod';
import { queryNumber } from '../../query-fields.ts';
import { keyRoute, type Route } from '../../route.ts';
import { findOwnTask, taskParams } from '../../videos/own-task.ts';
import { contentOperation, replyWithContent } from '../../videos/video-content.ts';
import { openrouterDialect } from './openrouter-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';

const query = z.object({ index: queryNumber(z.int().min(0).max(64).default(0)) });

export function getOpenrouterVideoContent(deps: DialectDeps): Route {
  return keyRoute({
    ...contentOperation,
    operationId: 'getOpenrouterVideoContent',
    scope: 'read_own',
    summary: 'Fetch a video’s file',
    dialect: openrouterDialect,
    paths: ['/api/v1/videos/:task_id/content'],
    input: z.object({ params: taskParams, query }),
    async handle({ params, query: { index }, reach, meta }) {
      const task = await findOwnTask(deps.tasks, { id: params.task_id, reach, kind: 'video' });
      return replyWithContent(task, { index, meta }, deps);
    },
  });
}
