import { defined } from '../../domain/defined.ts';
import { z } from 'zod';
import { GatewayError } from '../../domain/errors.ts';
import { jsonBody, videoBodyBytesMax } from '../body.ts';
import type { RouteDeps } from '../deps.ts';
import { idempotencyKeyOf } from '../idempotency-key.ts';
import { createdTaskSchema, presentCreatedTask } from '../presenters/created-task.ts';
import { jsonReply, keyRoute } from '../route.ts';
import type { Route } from '../route.ts';
import { videoBodySchema, videoFieldNames } from '../videos/video-body.ts';
import { parseVideo } from '../videos/video-request.ts';

type Deps = Pick<RouteDeps, 'createTask' | 'admissions' | 'metrics' | 'checkCallbackUrl' | 'checkMediaUrl'>;

export function createVideo(deps: Deps): Route {
  return keyRoute({
    operationId: 'createVideo',
    summary: 'Create a video generation task',
    description:
      'Confirms that the task was submitted; the video is not returned here. `Idempotency-Key` (1-255 visible ASCII characters) is kept for 24 hours: the same key and body is the same task, answered with `idempotency-replayed: true`.',
    tag: 'Videos',
    method: 'post',
    paths: ['/v1/videos/generations', '/v1/video/generations'],
    input: z.object({ body: videoBodySchema }),
    readBody: jsonBody(videoBodyBytesMax),
    headers: z.object({ 'idempotency-key': z.string().optional() }),
    success: { description: 'The task, its hold and its workflow exist.', schema: createdTaskSchema },
    errors: [
      'unsupported_parameter',
      'model_not_found',
      'media_url_not_allowed',
      'callback_url_not_allowed',
      'account_closed',
      'insufficient_balance',
      'model_not_allowed',
      'channel_not_allowed',
      'idempotency_key_reused',
      'concurrency_limit_exceeded',
      'storage_quota_exceeded',
    ],
    async handle({ body, caller, meta }) {
      const idempotencyKey = idempotencyKeyOf(meta);
      const { ignored, ...video } = parseVideo(body, caller, deps);
      try {
        const task = await deps.admissions.run(caller.account, () =>
          deps.createTask({
            ...video,
            caller,
            route: 'createVideo',
            requestId: meta.id,
            ...defined({ idempotencyKey, traceparent: meta.traceparent }),
          }),
        );
        meta.concerns(task.id);
        deps.metrics.countCreate(task.replayed ? 'replayed' : 'created');
        const headers = task.replayed ? { 'idempotency-replayed': 'true' } : undefined;
        return jsonReply(
          presentCreatedTask(task, 'video', [...meta.unknownFields(videoFieldNames), ...ignored]),
          headers,
        );
      } catch (error) {
        deps.metrics.countCreate(error instanceof GatewayError ? error.code : 'internal_error');
        throw error;
      }
    },
  });
}
