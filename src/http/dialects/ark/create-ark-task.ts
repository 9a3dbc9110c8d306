import { z } from 'zod';
import { defined } from '../../../base/defined.ts';
import { presentWarnings } from '../../presenters/image.ts';
import { jsonReply, keyRoute, type Route } from '../../route.ts';
import { createVideoTask, videoCreate } from '../../videos/create-video-task.ts';
import { anyFields } from '../../body-fields.ts';
import { understandVideo } from '../../videos/video-body.ts';
import { arkCreateBody, arkNames } from './ark-body.ts';
import { arkDialect } from './ark-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';

export function createArkTask(deps: DialectDeps): Route {
  return keyRoute({
    ...videoCreate,
    operationId: 'createArkTask',
    scope: 'create',
    summary: 'Create a video generation task',
    description:
      'A `draft_task` is rejected, because the gateway does not know its media and price. `Idempotency-Key` works as it does for `POST /v1/videos/generations`.',
    dialect: arkDialect,
    paths: ['/api/v3/contents/generations/tasks'],
    input: z.object({ body: anyFields }),
    documentedBody: arkCreateBody,
    success: {
      description: 'The task has been created and started, and its hold has been taken.',
      schema: z.object({
        id: z.string(),
        safety_identifier: z.string().optional(),
        warnings: z.array(z.string()).optional().meta({ description: 'The names of ignored fields.' }),
      }),
    },
    async handle({ body, caller, meta }) {
      const asked = understandVideo(body, arkNames);
      const create = { route: 'createArkTask', asked, caller, meta };
      const { task, warnings, headers, endUser } = await createVideoTask(create, deps);
      const about = { ...defined({ safety_identifier: endUser }), ...presentWarnings(warnings) };
      return jsonReply({ id: task.id, ...about }, headers);
    },
  });
}
