import { z } from 'zod';
import { jsonReply, keyRoute, type Route } from '../../route.ts';
import { createVideoTask, videoCreate } from '../../videos/create-video-task.ts';
import { findOwnTask } from '../../videos/own-task.ts';
import { anyFields } from '../../body-fields.ts';
import { understandVideo } from '../../videos/video-body.ts';
import { openaiBody, openaiCreateBody, withFilesAsData } from './openai-body.ts';
import { openaiDialect } from './openai-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { openaiVideoSchema, presentOpenaiVideo } from './openai-video.ts';

export function createOpenaiVideo(deps: DialectDeps): Route {
  const { tasks, requests, mediaUrl, images } = deps;
  return keyRoute({
    ...videoCreate,
    operationId: 'createOpenaiVideo',
    scope: 'create',
    summary: 'Create a video',
    description:
      'Accepts JSON or a form. The model determines which values of `seconds`, `size` and `input_reference` are accepted. Its defaults apply to absent fields. All fields of `POST /v1/videos/generations` are allowed as well. `Idempotency-Key` works as it does there.',
    dialect: openaiDialect,
    paths: ['/v1/videos'],
    input: z.object({ body: anyFields }),
    documentedBody: openaiCreateBody,
    readBody: openaiBody(images),
    success: {
      description: 'The task has been created and started, and its hold has been taken.',
      schema: openaiVideoSchema,
    },
    async handle({ body, caller, meta }) {
      const asked = await withFilesAsData(understandVideo(body), meta, images);
      const create = { route: 'createOpenaiVideo', asked, caller, meta };
      const { task, warnings, headers } = await createVideoTask(create, deps);
      const record = await findOwnTask(tasks, {
        id: task.id,
        reach: { account: caller.account },
        kind: 'video',
      });
      const request = (await requests.find(task.id))?.request;
      return jsonReply(presentOpenaiVideo(record, { request, warnings, mediaUrl }), headers);
    },
  });
}
