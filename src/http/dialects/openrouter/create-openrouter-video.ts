import { z } from 'zod';
import { presentWarnings } from '../../presenters/image.ts';
import { jsonReply, keyRoute, type Route } from '../../route.ts';
import { createVideoTask, videoCreate } from '../../videos/create-video-task.ts';
import { anyFields } from '../../body-fields.ts';
import { understandVideo } from '../../videos/video-body.ts';
import { openrouterCreateBody, openrouterNames } from './openrouter-body.ts';
import { openrouterDialect } from './openrouter-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { openrouterJobSchema, pollingUrl } from './openrouter-job.ts';

export function createOpenrouterVideo(deps: DialectDeps): Route {
  return keyRoute({
    ...videoCreate,
    operationId: 'createOpenrouterVideo',
    scope: 'create',
    summary: 'Create a video',
    description: '`Idempotency-Key` works as it does for `POST /v1/videos/generations`.',
    dialect: openrouterDialect,
    paths: ['/api/v1/videos'],
    input: z.object({ body: anyFields }),
    documentedBody: openrouterCreateBody,
    success: {
      status: 202,
      description: 'The task has been created and started, and its hold has been taken.',
      schema: openrouterJobSchema,
    },
    async handle({ body, caller, meta }) {
      const asked = understandVideo(body, openrouterNames);
      const create = { route: 'createOpenrouterVideo', asked, caller, meta };
      const { task, warnings, headers } = await createVideoTask(create, deps);
      const reply = jsonReply(
        {
          id: task.id,
          polling_url: pollingUrl(task.id, deps.publicUrl),
          status: 'pending',
          ...presentWarnings(warnings),
        },
        headers,
      );
      return { ...reply, status: 202 };
    },
  });
}
