import { z } from 'zod';
import { defined } from '../../../base/defined.ts';
import { isModeration } from '../../../errors/failure.ts';
import type { Task } from '../../../task/record.ts';
import { costHeaders } from '../../cost-headers.ts';
import { presentWarnings } from '../../presenters/image.ts';
import { presentTask, type taskFields } from '../../presenters/video-task.ts';
import { jsonReply, type Route, type TextReply } from '../../route.ts';
import { falErrorSchema, invalidInput, presentFalError } from './fal-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';

const file = z.object({ url: z.string() });
export const falResultSchema = z
  .object({
    video: file.optional(),
    images: z.array(file).optional().meta({ description: 'Present for image models, instead of `video`.' }),
    seed: z
      .number()
      .optional()
      .meta({ description: 'The requested seed. Absent once the request is no longer kept.' }),
    warnings: z.array(z.string()).optional().meta({ description: 'The names of ignored fields.' }),
  })
  .meta({ id: 'FalResult' });

export const falFailures = {
  422: { description: 'The request failed because of its input.', schema: falErrorSchema },
  500: { description: 'The request failed for a reason other than its input.', schema: falErrorSchema },
} satisfies Route['otherAnswers'];

export async function replyWithFalResult(
  task: Task,
  { requests, catalogue, mediaUrl }: Pick<DialectDeps, 'requests' | 'catalogue' | 'mediaUrl'>,
  warnings: readonly string[] = [],
): Promise<TextReply | undefined> {
  const presented: z.output<typeof taskFields> = presentTask(task, mediaUrl);
  const named = namedReply(task);
  if (presented.error !== undefined) return failedReply(presented.error, named);
  const files = presented.data.flatMap(({ url }) => (url === undefined ? [] : [{ url }]));
  if (files.length === 0) return undefined;
  const request = (await requests.find(task.id))?.request;
  const seed = request?.kind === 'video' ? request.seed : request?.extra['seed'];
  const money = costHeaders(task.charge, catalogue.current().currency);
  const made = task.kind === 'image' ? { images: files } : { video: files[0] };
  const result = { ...made, ...defined({ seed }), ...presentWarnings(warnings) };
  return jsonReply(result, { ...money, ...named });
}

/** Returns the header from which clients also read the request id. */
export function namedReply({ id }: Pick<Task, 'id'>): Readonly<Record<string, string>> {
  return { 'x-fal-request-id': id };
}

type Failure = NonNullable<z.output<typeof taskFields>['error']>;

/** The task is already finished, so this avoids statuses that the official client retries. */
function failedReply(
  { message, code, ...about }: Failure,
  headers: Readonly<Record<string, string>>,
): TextReply {
  const moderated = isModeration(about.class);
  const isInput = moderated || about.class === 'invalid_input';
  const field = isInput ? (about.field ?? about.input ?? 'prompt') : '';
  const type = moderated ? 'content_policy_violation' : code;
  const body = presentFalError({ message, type, field });
  return { ...jsonReply(body, headers), status: isInput ? invalidInput : 500 };
}
