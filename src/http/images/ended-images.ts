import { defined } from '../../base/defined.ts';
import { GatewayError } from '../../errors/errors.ts';
import type { Task } from '../../task/record.ts';
import { explainRejection, noRetry } from '../../images/explain-failure.ts';
import { classified } from '../../task/task.ts';
import type { RouteDeps } from '../deps.ts';
import type { Images } from '../presenters/image.ts';
import { presentTask } from '../presenters/video-task.ts';

/** Throws the error of a synchronous request if the task has failed. */
export function endedImages(
  task: Task,
  { mediaUrl }: Pick<RouteDeps, 'mediaUrl'>,
  headers: Readonly<Record<string, string>> = {},
): Images {
  const { status, outcome, error } = task;
  if (status === 'failed' || outcome?.kind !== 'succeeded') {
    const failure = error && classified(error);
    const about = { ...defined({ words: error?.messageToCaller ?? error?.message }), headers };
    const rejection = failure && explainRejection(failure, about);
    if (rejection !== undefined) throw rejection;
    throw new GatewayError('provider_error', 'The upstream generated no image.', {
      ...about,
      ...defined({ failure }),
      headers: { ...headers, ...noRetry },
    });
  }
  const images = presentTask(task, mediaUrl).data.map(({ url, b64_json: base64, expires_at: expiresAt }) =>
    defined({ url, base64, expiresAt }),
  );
  return { images, facts: outcome.facts, extra: {} };
}
