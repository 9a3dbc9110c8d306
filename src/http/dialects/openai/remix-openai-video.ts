import { seenBy } from '../../../base/key-scope.ts';
import { z } from 'zod';
import { defined } from '../../../base/defined.ts';
import type { GenerationRequest } from '../../../models/request.ts';
import type { Task } from '../../../task/record.ts';
import { anyFields, prompt } from '../../body-fields.ts';
import { presentTask } from '../../presenters/video-task.ts';
import { jsonReply, keyRoute, type Route } from '../../route.ts';
import { createErrors } from '../../create-errors.ts';
import { createVideoTask, videoCreate } from '../../videos/create-video-task.ts';
import { findOwnTask } from '../../videos/own-task.ts';
import { contentOperation, missingResult } from '../../videos/video-content.ts';
import { understandVideo } from '../../videos/video-body.ts';
import { endUserFields, namesOf } from '../../../intake/names.ts';
import { openaiBody } from './openai-body.ts';
import { openaiDialect, openaiParams, openaiVideoAddress } from './openai-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import { openaiVideoSchema, presentOpenaiVideo } from './openai-video.ts';

export function remixOpenaiVideo(deps: DialectDeps): Route {
  const { tasks, requests, mediaUrl } = deps;
  return keyRoute({
    ...videoCreate,
    operationId: 'remixOpenaiVideo',
    scope: 'create',
    summary: 'Create a video by editing another one',
    description:
      'Creates a video by editing the result of the source video according to the new prompt, with the source’s model and output settings. If the model cannot edit videos, the response is 400 `unsupported_parameter`.',
    dialect: openaiDialect,
    paths: ['/v1/videos/:task_id/remix'],
    only: openaiVideoAddress,
    input: z.object({ params: openaiParams, body: anyFields }),
    documentedBody: z.object({ prompt }),
    readBody: openaiBody(deps.images),
    success: {
      description: 'The task has been created and started, and its hold has been taken.',
      schema: openaiVideoSchema,
    },
    errors: [...createErrors, ...contentOperation.errors],
    async handle({ params: { task_id: id }, body, caller, meta }) {
      const source = await findOwnTask(tasks, { id, reach: seenBy(caller), kind: 'video' });
      const made = (await requests.find(id))?.request;
      const ours = remixOf(source, made, resultOf(source, deps));
      const sent = understandVideo(body, remixNames, ours);
      const asked = { ...sent, nameOf: (name: string) => remixName(sent.nameOf(name)) };
      const create = { route: 'remixOpenaiVideo', asked, caller, meta };
      const { task, warnings, headers } = await createVideoTask(create, deps);
      const record = await findOwnTask(tasks, {
        id: task.id,
        reach: { account: caller.account },
        kind: 'video',
      });
      const request = (await requests.find(task.id))?.request;
      return jsonReply(presentOpenaiVideo(record, { request, warnings, remixOf: id, mediaUrl }), headers);
    },
  });
}

const remixNames = namesOf(
  { prefix: '' },
  { prompt: 'prompt', strict: 'strict', callback_url: 'metadata.callback_url', metadata: 'metadata' },
  endUserFields,
);

function remixOf(
  { model }: Task,
  made: GenerationRequest | undefined,
  url: string,
): Readonly<Record<string, unknown>> {
  const { resolution, ratio } = made?.kind === 'video' ? made : {};
  return { model, videos: [url], metadata: { video_task: 'edit' }, ...defined({ resolution, ratio }) };
}

function resultOf(source: Task, deps: DialectDeps): string {
  const url = presentTask(source, deps.mediaUrl).data[0]?.url;
  if (url === undefined) throw missingResult(source, deps);
  return url;
}

/** The URL determines the source video and we set the edit mode, so errors about these fields name task_id. */
function remixName(ours: string): string {
  return /^(?:videos|input_type|metadata\.video_task)/.test(ours) ? 'task_id' : ours;
}
