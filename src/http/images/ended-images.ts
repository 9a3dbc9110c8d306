import { defined } from '../../base/defined.ts';
import { GatewayError } from '../../errors/errors.ts';
import { isModeration } from '../../errors/failure.ts';
import type { Task } from '../../task/record.ts';
import { noRetry } from '../../images/explain-failure.ts';
import { classified } from '../../task/task.ts';
import type { RouteDeps } from '../deps.ts';
import type { Images } from '../presenters/image.ts';
import { presentTask } from '../presenters/video-task.ts';

/** Throws `provider_error` or `content_policy_violation` if the task has failed. */
export function endedImages(
  task: Task,
  { mediaUrl }: Pick<RouteDeps, 'mediaUrl'>,
  headers: Readonly<Record<string, string>> = {},
): Images {
  const { status, outcome, error } = task;
  if (status === 'failed' || outcome?.kind !== 'succeeded') {
    const code = isModeration(error?.class) ? 'content_policy_violation' : 'provider_error';
    throw new GatewayError(code, 'The upstream generated no image.', {
      ...defined({ words: error?.messageToCaller ?? error?.message, failure: error && classified(error) }),
      headers: { ...headers, ...noRetry },
    });
  }
  const images = presentTask(task, mediaUrl).data.map(({ url, b64_json: base64, expires_at: expiresAt }) =>
    defined({ url, base64, expiresAt }),
  );
  return { images, facts: outcome.facts, extra: {} };
}
