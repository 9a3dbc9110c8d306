import { z } from 'zod';
import { defined } from '../../../base/defined.ts';
import { presentWarnings } from '../../presenters/image.ts';
import { jsonReply, keyRoute } from '../../route.ts';
import type { Route } from '../../route.ts';
import { createVideoTask, videoCreate } from '../../videos/create-video-task.ts';
import { inTheirWords } from '../their-words.ts';
import { arkCreateBody, decodeArk, namesIn } from './ark-body.ts';
import { arkDialect } from './ark-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';

export function createArkTask(deps: DialectDeps): Route {
  return keyRoute({
    ...videoCreate,
    operationId: 'createArkTask',
    scope: 'create',
    summary: 'Create a video generation task',
    description:
      'A `draft_task` is refused: its media and its price are not known here. `Idempotency-Key` works as with `POST /v1/videos/generations`.',
    dialect: arkDialect,
    paths: ['/api/v3/contents/generations/tasks'],
    input: z.object({ body: arkCreateBody }),
    success: {
      description: 'The task, its hold and its workflow exist.',
      schema: z.object({
        id: z.string(),
        safety_identifier: z.string().optional(),
        warnings: z
          .array(z.string())
          .optional()
          .meta({ description: 'Names of the fields that were ignored.' }),
      }),
    },
    async handle({ body: asked, caller, meta }) {
      const nameOf = namesIn(asked.content);
      const { task, warnings, headers, safety } = await inTheirWords(nameOf, async () => {
        const body = decodeArk(asked);
        const created = await createVideoTask(
          { route: 'createArkTask', body, unread: [], caller, meta },
          deps,
        );
        return { ...created, safety: body.metadata?.safety_identifier };
      });
      const about = { ...defined({ safety_identifier: safety }), ...presentWarnings(warnings.map(nameOf)) };
      return jsonReply({ id: task.id, ...about }, headers);
    },
  });
}
