import { z } from 'zod';
import { defined } from '../../../base/defined.ts';
import type { GenerationRequest } from '../../../models/request.ts';
import type { MediaUrl } from '../../../models/stored-media.ts';
import type { Task } from '../../../task/record.ts';
import type { TaskStatus } from '../../../task/task.ts';
import { unixSeconds } from '../../presenters/unix-seconds.ts';
import { presentTask, type taskFields } from '../../presenters/video-task.ts';

export const arkStatuses = ['queued', 'running', 'cancelled', 'succeeded', 'failed', 'expired'] as const;
export type ArkStatus = (typeof arkStatuses)[number];

const failureSchema = z.object({ code: z.string(), message: z.string() });

/** Source: the Python SDK (volcengine-ark-runtime 5.0.54, `content_generation_task.py`). */
export const arkTaskSchema = z
  .object({
    id: z.string(),
    model: z.string(),
    status: z.enum(arkStatuses),
    error: failureSchema.nullable(),
    content: z.object({ video_url: z.string(), last_frame_url: z.string().optional() }).optional(),
    usage: z.object({ completion_tokens: z.number(), total_tokens: z.number() }).optional(),
    created_at: unixSeconds(),
    updated_at: unixSeconds(),
    execution_expires_after: z.int().meta({ description: 'Seconds from `created_at` to the deadline.' }),
    duration: z.number().optional(),
    resolution: z.string().optional(),
    ratio: z.string().optional(),
    seed: z.int().optional(),
    generate_audio: z.boolean().optional(),
    draft: z.boolean().optional(),
    safety_identifier: z.string().optional(),
  })
  .meta({ id: 'ArkTask' });

type ArkTask = z.output<typeof arkTaskSchema>;
type Presented = z.output<typeof taskFields>;

const words = {
  pending: 'queued',
  submitted: 'queued',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
} as const satisfies Record<TaskStatus, ArkStatus>;

/** Ark distinguishes three kinds of failure: missed deadlines, cancellations by the caller, and everything else. */
function arkStatusOf({ status, error }: Pick<Presented, 'status' | 'error'>): ArkStatus {
  if (error?.code === 'task_expired') return 'expired';
  return error?.code === 'task_cancelled' ? 'cancelled' : words[status];
}

export function presentArkTask(
  task: Task,
  { request, mediaUrl }: { readonly request?: GenerationRequest | undefined; readonly mediaUrl: MediaUrl },
): ArkTask {
  const presented: Presented = presentTask(task, mediaUrl);
  const { error, data, usage, duration, resolution, ratio, created_at, updated_at } = presented;
  const status = arkStatusOf(presented);
  const [result] = data;
  const content = { video_url: result?.url ?? '', ...defined({ last_frame_url: result?.last_frame_url }) };
  return {
    id: task.id,
    model: task.model,
    status,
    error: error === undefined || status === 'cancelled' ? null : presentFailure(error),
    ...(status === 'succeeded' ? { content } : {}),
    ...defined({ usage }),
    created_at,
    updated_at,
    execution_expires_after: Math.round((task.deadlineAt - task.createdAt) / 1000),
    ...askedOf(request),
    ...defined({ resolution, ratio }),
    ...(duration === undefined ? {} : { duration: Math.round(duration) }),
  };
}

function askedOf(request: GenerationRequest | undefined): Partial<ArkTask> {
  if (request?.kind !== 'video') return {};
  const { duration, resolution, ratio, seed, generateAudio, draft, safetyIdentifier } = request;
  return defined({
    duration: duration === 'auto' ? -1 : duration,
    resolution,
    ratio,
    seed,
    generate_audio: generateAudio,
    draft,
    safety_identifier: safetyIdentifier,
  });
}

/** Clients recognise moderation by the wording of these codes. */
function presentFailure({ class: kind, message, input, code }: NonNullable<Presented['error']>) {
  const sensitive = 'SensitiveContentDetected';
  const refused = { image: 'Image', video: 'Video', audio: 'Audio' }[String(input)] ?? 'Text';
  if (kind === 'moderation_input') return { code: `Input${refused}${sensitive}`, message };
  if (kind === 'moderation_output') return { code: `OutputVideo${sensitive}`, message };
  return { code: code === 'task_expired' ? 'TaskExpired' : 'InternalServiceError', message };
}
