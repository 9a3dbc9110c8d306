import { z } from 'zod';
import { createdTaskSchema, presentCreatedTask } from '../presenters/created-task.ts';
import { jsonReply, keyRoute, type Route } from '../route.ts';
import { anyFields } from '../body-fields.ts';
import { understandVideo, videoBodySchema } from '../videos/video-body.ts';
import { createVideoTask, videoCreate, type CreateVideoDeps } from '../videos/create-video-task.ts';

export function createVideo(deps: CreateVideoDeps): Route {
  return keyRoute({
    ...videoCreate,
    operationId: 'createVideo',
    scope: 'create',
    summary: 'Create a video generation task',
    description:
      'The response confirms the submission. It does not contain the video. `Idempotency-Key` (1-255 visible ASCII characters) is kept for 24 hours. A repeat with the same key and body returns the same task, with `idempotency-replayed: true`. `x-mediary-hold` is the amount held until the task ends.',
    tag: 'Videos',
    paths: ['/v1/videos/generations', '/v1/video/generations'],
    input: z.object({ body: anyFields }),
    documentedBody: videoBodySchema,
    success: {
      description: 'The task has been created and started, and its hold has been taken.',
      schema: createdTaskSchema,
    },
    async handle({ body, caller, meta }) {
      const asked = understandVideo(body);
      const { task, warnings, headers } = await createVideoTask(
        { route: 'createVideo', asked, caller, meta },
        deps,
      );
      return jsonReply(presentCreatedTask(task, 'video', warnings), headers);
    },
  });
}
