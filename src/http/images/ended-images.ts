import type { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { GatewayError } from '../../errors/errors.ts';
import { isModeration } from '../../errors/failure.ts';
import type { Task } from '../../task/record.ts';
import { noRetry } from '../../images/explain-failure.ts';
import { classified } from '../../task/task.ts';
import type { RouteDeps } from '../deps.ts';
import { presentImageUsage } from '../presenters/image-usage.ts';
import type { imageUsageSchema } from '../presenters/image-usage.ts';
import { presentTask } from '../presenters/video-task.ts';
import type { PresentedTask } from '../presenters/video-task.ts';

interface EndedImages {
  /** Unix seconds. */
  readonly created: number;
  readonly data: PresentedTask['data'];
  readonly usage: z.output<typeof imageUsageSchema>;
}

/** Links to what a task has made, for whoever waited for it. Throws provider_error where it has failed. */
export function imagesOf(
  task: Task,
  { mediaUrl }: Pick<RouteDeps, 'mediaUrl'>,
  headers: Readonly<Record<string, string>> = {},
): EndedImages {
  const { status, outcome, error } = task;
  if (status === 'failed' || outcome?.kind !== 'succeeded') {
    const code = isModeration(error?.class) ? 'content_policy_violation' : 'provider_error';
    throw new GatewayError(code, 'The upstream generated no image.', {
      ...defined({ words: error?.message, failure: error && classified(error) }),
      headers: { ...headers, ...noRetry },
    });
  }
  const { created_at: created, data } = presentTask(task, mediaUrl);
  return { created, data, usage: presentImageUsage(outcome.facts) };
}
