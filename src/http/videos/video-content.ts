import { GatewayError } from '../../domain/errors.ts';
import { mediaTypeOf } from '../../results/media-types.ts';
import type { Task } from '../../domain/task-record.ts';
import type { RouteDeps } from '../deps.ts';
import type { Reply, RequestMeta } from '../route.ts';
import { fileAnswers, replyWithFile } from '../stored-file.ts';

/** What a route declares that answers with a task's result. */
export const contentAnswers = {
  ...fileAnswers,
  otherAnswers: {
    ...fileAnswers.otherAnswers,
    302: {
      description: 'The gateway does not serve it itself: the result is at `location`.',
      mediaType: 'none',
    },
  },
};

/** The file of a result: our own copy, or the way to the upstream's. Throws task_not_found. */
export async function replyWithContent(
  task: Task,
  { index, meta }: { readonly index: number; readonly meta: RequestMeta },
  keptResults: RouteDeps['keptResults'],
): Promise<Reply> {
  const { status, outcome, id } = task;
  if (status !== 'succeeded' || outcome?.kind !== 'succeeded')
    throw notThere(`The video is not there: its task is ${status}.`);
  const item = outcome.items[index];
  const { stored, url } = item ?? {};
  const mediaType = stored === undefined ? undefined : mediaTypeOf(stored.name);
  if (stored !== undefined && mediaType !== undefined && keptResults !== undefined) {
    const file = { key: `${id}/${stored.name}`, mediaType, maxAge: 0 };
    const reply = await replyWithFile(file, meta, keptResults.storage);
    if (reply !== undefined) return reply;
  }
  if (url === undefined) throw notThere('The video is not kept any more.');
  return { status: 302, headers: { location: url }, mediaType: 'text/plain; charset=utf-8', text: '' };
}

function notThere(message: string): GatewayError {
  return new GatewayError('task_not_found', message, { param: 'task_id' });
}
