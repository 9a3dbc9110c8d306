import { GatewayError } from '../../errors/errors.ts';
import { mediaTypeOf } from '../../results/media-types.ts';
import type { Task } from '../../task/record.ts';
import type { RouteDeps } from '../deps.ts';
import type { Reply, RequestMeta } from '../route.ts';
import { fileAnswers, replyWithFile } from '../stored-file.ts';

/** What a route declares that answers with a task's result. */
export const contentOperation = {
  description:
    'The copy of the gateway, with range requests; where it keeps none, a redirection to that of the upstream.',
  method: 'get',
  ...fileAnswers,
  otherAnswers: {
    ...fileAnswers.otherAnswers,
    302: {
      description: 'The gateway does not serve it itself: the result is at `location`.',
      mediaType: 'none',
    },
  },
} as const;

interface ContentAsked {
  readonly index: number;
  readonly meta: RequestMeta;
  /** Default: the video. */
  readonly part?: 'video' | 'last_frame';
}

/** The file of a result: our own copy, or the way to the upstream's. Throws task_not_found. */
export async function replyWithContent(
  task: Task,
  { index, meta, part = 'video' }: ContentAsked,
  keptResults: RouteDeps['keptResults'],
): Promise<Reply> {
  const { status, outcome, id } = task;
  if (status !== 'succeeded' || outcome?.kind !== 'succeeded')
    throw notThere(`The video is not there: its task is ${status}.`);
  const { stored, url: videoUrl, lastFrameUrl } = outcome.items[index] ?? {};
  const [name, url] = part === 'video' ? [stored?.name, videoUrl] : [stored?.lastFrame, lastFrameUrl];
  const mediaType = name === undefined ? undefined : mediaTypeOf(name);
  if (mediaType !== undefined && keptResults !== undefined) {
    const file = { key: `${id}/${name}`, mediaType, maxAge: 0 };
    const reply = await replyWithFile(file, meta, keptResults.storage);
    if (reply !== undefined) return reply;
  }
  if (url === undefined) throw notThere(absent[part]);
  return { status: 302, headers: { location: url }, mediaType: 'text/plain; charset=utf-8' };
}

const absent = {
  video: 'The video is not kept any more.',
  last_frame: 'There is no image of this video: its model gave no last frame, or it is not kept any more.',
} as const;

function notThere(message: string): GatewayError {
  return new GatewayError('task_not_found', message, { param: 'task_id' });
}
