import type { Caller } from '../../access/caller.ts';
import { defined } from '../../base/defined.ts';
import { GatewayError } from '../../errors/errors.ts';
import type { CreatedTask } from '../../commands/create-task.ts';
import { jsonBody } from '../body.ts';
import { createdHeaders } from '../cost-headers.ts';
import { createErrors } from '../create-errors.ts';
import type { RouteDeps } from '../deps.ts';
import { idempotencyHeader, idempotencyKeyOf } from '../idempotency-key.ts';
import type { RequestMeta } from '../route.ts';
import { inTheirWords } from '../../intake/their-words.ts';
import type { Understood } from '../../intake/understand.ts';
import { readVideo } from './video-request.ts';

export type CreateVideoDeps = Pick<
  RouteDeps,
  'createTask' | 'admissions' | 'metrics' | 'checkCallbackUrl' | 'checkMediaUrl'
>;

export const videoCreate = {
  method: 'post',
  readBody: jsonBody,
  headers: idempotencyHeader,
  errors: createErrors,
} as const;

export interface VideoCreate {
  readonly route: string;
  readonly asked: Understood;
  readonly caller: Caller;
  readonly meta: RequestMeta;
}

export interface CreatedVideo {
  readonly task: CreatedTask;
  readonly warnings: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly endUser?: string;
}

/** Used by the routes of all dialects. Throws GatewayError with the field names that the caller sent. */
export async function createVideoTask(
  { route, asked, caller, meta }: VideoCreate,
  deps: CreateVideoDeps,
): Promise<CreatedVideo> {
  return inTheirWords(asked.nameOf, async () => {
    const idempotencyKey = idempotencyKeyOf(meta);
    const { ignored, ...video } = readVideo(asked, caller, deps);
    try {
      const task = await deps.admissions.run(caller.account, () =>
        deps.createTask({
          ...video,
          caller,
          route,
          requestId: meta.id,
          sent: meta.clientTry(),
          ...defined({ idempotencyKey, traceparent: meta.traceparent }),
        }),
      );
      meta.concerns(task.id);
      deps.metrics.countCreate(task.replayed ? 'replayed' : 'created');
      return {
        task,
        warnings: [...ignored, ...task.warnings.map(asked.nameOf)],
        headers: createdHeaders(task),
        ...defined({ endUser: video.request.safetyIdentifier }),
      };
    } catch (error) {
      deps.metrics.countCreate(error instanceof GatewayError ? error.code : 'internal_error');
      throw error;
    }
  });
}
