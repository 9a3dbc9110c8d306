import { z } from 'zod';
import { defined } from '../../../domain/defined.ts';
import { costHeaders } from '../../cost-headers.ts';
import { presentTask } from '../../presenters/video-task.ts';
import type { taskFields } from '../../presenters/video-task.ts';
import { jsonReply, keyRoute } from '../../route.ts';
import type { Reply, Route } from '../../route.ts';
import { findOwnTask } from '../../videos/own-task.ts';
import { falDialect, falErrorSchema, invalidInput, presentFalError } from './fal-dialect.ts';
import type { FalDeps } from './fal-dialect.ts';
import { falRequestParams } from './fal-request.ts';

const resultSchema = z.object({
  video: z.object({ url: z.string() }),
  seed: z.number().optional().meta({ description: 'That was asked for, while the request is kept.' }),
});

export function getFalResult({ tasks, requests, catalogue, mediaUrl }: FalDeps): Route {
  return keyRoute({
    operationId: 'getFalResult',
    summary: 'Fetch the result of a request',
    tag: 'Videos',
    dialect: falDialect,
    method: 'get',
    paths: ['/fal/:owner/:name/requests/:task_id'],
    input: z.object({ params: falRequestParams }),
    success: { description: 'The video.', schema: resultSchema },
    otherAnswers: {
      400: { description: 'It has not ended.', schema: falErrorSchema },
      422: { description: 'It failed by what was asked for.', schema: falErrorSchema },
      500: { description: 'It failed otherwise.', schema: falErrorSchema },
    },
    errors: ['task_not_found'],
    async handle({ params, caller }) {
      const task = await findOwnTask(tasks, { id: params.task_id, caller, kind: 'video' });
      const presented: z.output<typeof taskFields> = presentTask(task, mediaUrl);
      const named = { 'x-fal-request-id': task.id };
      if (presented.error !== undefined) return failedReply(presented.error, named);
      const url = presented.data[0]?.url;
      if (url === undefined) {
        const message = 'Request is still in progress';
        return { ...jsonReply(presentFalError({ message, type: '', field: '' }), named), status: 400 };
      }
      const request = (await requests.find(task.id))?.request;
      const seed = request?.kind === 'video' ? request.seed : undefined;
      const money = costHeaders(task.charge, catalogue.current().currency);
      return jsonReply({ video: { url }, ...defined({ seed }) }, { ...money, ...named });
    },
  });
}

type Failure = NonNullable<z.output<typeof taskFields>['error']>;

/** Not a status that the official client repeats: the task has ended. */
function failedReply({ message, code, ...about }: Failure, headers: Readonly<Record<string, string>>): Reply {
  const moderated = about.class === 'moderation_input' || about.class === 'moderation_output';
  const isInput = moderated || about.class === 'invalid_input';
  const field = isInput ? (about.field ?? about.input ?? 'prompt') : '';
  const type = moderated ? 'content_policy_violation' : code;
  const body = presentFalError({ message, type, field });
  return { ...jsonReply(body, headers), status: isInput ? invalidInput : 500 };
}
