import { GatewayError } from '../../errors/errors.ts';
import { mediaTypeOf } from '../../results/media-types.ts';
import type { Task } from '../../task/record.ts';
import { isTerminal } from '../../task/task.ts';
import type { RouteDeps } from '../deps.ts';
import type { Reply, RequestMeta } from '../route.ts';
import { fileAnswers, replyWithFile } from '../stored-file.ts';
import { pollAfterSeconds, type PollDeps } from './query-task.ts';

export const contentOperation = {
  description:
    'Returns the gateway’s copy and supports range requests. If there is no copy, the response redirects to the upstream’s file.',
  method: 'get',
  reads: 'one',
  errors: ['task_not_found', 'result_not_found', 'result_not_ready'],
  ...fileAnswers,
  otherAnswers: {
    ...fileAnswers.otherAnswers,
    302: {
      description: 'The gateway does not serve the result itself. Fetch it from `location`.',
      mediaType: 'none',
    },
  },
} as const;

interface ContentAsked {
  readonly index: number;
  readonly meta: RequestMeta;
  readonly part?: 'video' | 'last_frame';
}

type ContentDeps = PollDeps & Pick<RouteDeps, 'keptResults'>;

/** Redirects if the gateway has no copy of the result. Throws `result_not_ready` or `result_not_found`. */
export async function replyWithContent(
  task: Task,
  { index, meta, part = 'video' }: ContentAsked,
  deps: ContentDeps,
): Promise<Reply> {
  const { outcome, id } = task;
  if (outcome?.kind !== 'succeeded') throw missingResult(task, deps);
  const { keptResults } = deps;
  const { stored, url: videoUrl, lastFrameUrl } = outcome.items[index] ?? {};
  const [name, url] = part === 'video' ? [stored?.name, videoUrl] : [stored?.lastFrame, lastFrameUrl];
  const mediaType = name === undefined ? undefined : mediaTypeOf(name);
  if (mediaType !== undefined && keptResults !== undefined) {
    const file = { key: `${id}/${name}`, mediaType, maxAge: 0 };
    const reply = await replyWithFile(file, meta, keptResults.storage);
    if (reply !== undefined) return reply;
  }
  if (url === undefined) throw resultNotFound(absent[part]);
  return { status: 302, headers: { location: url }, mediaType: 'text/plain; charset=utf-8' };
}

const absent = {
  video: 'The video is no longer kept.',
  last_frame: 'This video has no image: its model delivered no last frame, or the image is no longer kept.',
} as const;

export function resultNotFound(message: string, param = 'task_id'): GatewayError {
  return new GatewayError('result_not_found', message, { param });
}

export function missingResult(task: Task, deps: PollDeps): GatewayError {
  if (isTerminal(task.status))
    return resultNotFound(`The task has failed. GET /v1/videos/generations/${task.id} returns the reason.`);
  const retryAfterSeconds = pollAfterSeconds(task, deps);
  const message = `The task is still in progress and has no result yet. Repeat the request after ${retryAfterSeconds} seconds.`;
  return new GatewayError('result_not_ready', message, { param: 'task_id', retryAfterSeconds });
}
