import { z } from 'zod';
import { jsonReply, keyRoute, type Route } from '../../route.ts';
import { findOwnTask, taskParams } from '../../videos/own-task.ts';
import { progressHeaders } from '../../videos/query-task.ts';
import { openrouterDialect } from './openrouter-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { openrouterJobSchema, presentOpenrouterJob } from './openrouter-job.ts';

export function getOpenrouterVideo(deps: DialectDeps): Route {
  return keyRoute({
    operationId: 'getOpenrouterVideo',
    scope: 'read_own',
    summary: 'Query a video',
    description: 'Works for all of the account’s video tasks, whichever API created them.',
    dialect: openrouterDialect,
    method: 'get',
    reads: 'one',
    paths: ['/api/v1/videos/:task_id'],
    input: z.object({ params: taskParams }),
    success: { description: 'The video’s current state.', schema: openrouterJobSchema },
    errors: ['task_not_found'],
    async handle({ params, reach }) {
      const { mediaUrl, publicUrl, catalogue } = deps;
      const { currency } = catalogue.current();
      const task = await findOwnTask(deps.tasks, { id: params.task_id, reach, kind: 'video' });
      return jsonReply(
        presentOpenrouterJob(task, { mediaUrl, publicUrl, currency }),
        progressHeaders(task, deps),
      );
    },
  });
}
