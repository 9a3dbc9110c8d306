import { defined } from '../../base/defined.ts';
import { GatewayError } from '../../errors/errors.ts';
import type { Task } from '../../task/record.ts';
import { noRetry } from '../../images/explain-failure.ts';
import type { RouteDeps } from '../deps.ts';
import { presentTask } from '../presenters/video-task.ts';
import type { PresentedTask } from '../presenters/video-task.ts';

/** Links to what a task has made, for whoever waited for it. Throws provider_error where it has failed. */
export function imagesOf(
  task: Task,
  { mediaUrl }: Pick<RouteDeps, 'mediaUrl'>,
  headers: Readonly<Record<string, string>> = {},
): { readonly created: number; readonly data: PresentedTask['data'] } {
  if (task.status === 'failed' || task.outcome?.kind !== 'succeeded') {
    const words = defined({ words: task.error?.message });
    throw new GatewayError('provider_error', 'The upstream generated no image.', {
      ...words,
      headers: { ...headers, ...noRetry },
    });
  }
  const { created_at: created, data } = presentTask(task, mediaUrl);
  return { created, data };
}
