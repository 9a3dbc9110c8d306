import { z } from 'zod';
import type { MediaUrl } from '../../../models/stored-media.ts';
import type { GenerationRequest } from '../../../models/request.ts';
import type { Task } from '../../../task/record.ts';
import type { TaskStatus } from '../../../task/task.ts';
import { presentWarnings } from '../../presenters/image.ts';
import { unixSeconds } from '../../presenters/unix-seconds.ts';
import { presentTask, type taskFields } from '../../presenters/video-task.ts';

/** Source: the official client (openai 7.57, `resources/videos.d.ts`). */
export const openaiVideoSchema = z
  .object({
    id: z.string(),
    object: z.literal('video'),
    status: z.enum(['queued', 'in_progress', 'completed', 'failed']),
    progress: z.number().meta({
      description: 'The progress in per cent, from 0 to 100. 0 if the upstream does not report it.',
    }),
    model: z.string(),
    prompt: z.string().nullable().meta({ description: 'Null once the request is no longer kept.' }),
    seconds: z.string(),
    size: z.string().meta({ description: '`<width>x<height>`. Empty if the model chooses the size.' }),
    created_at: unixSeconds(),
    completed_at: unixSeconds().nullable(),
    expires_at: unixSeconds('The result can be fetched until this time.').nullable(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    remixed_from_video_id: z.string().nullable().meta({
      description: 'Present only in the response to a remix, because it is not stored.',
    }),
    warnings: z.array(z.string()).optional().meta({ description: 'The names of ignored fields.' }),
  })
  .meta({ id: 'OpenaiVideo' });

type OpenaiVideo = z.output<typeof openaiVideoSchema>;

const statuses = {
  pending: 'queued',
  submitted: 'queued',
  running: 'in_progress',
  succeeded: 'completed',
  failed: 'failed',
} as const satisfies Record<TaskStatus, OpenaiVideo['status']>;

export interface OpenaiFacts {
  readonly request: GenerationRequest | undefined;
  readonly mediaUrl: MediaUrl;
  readonly remixOf?: string;
  readonly warnings?: readonly string[];
}

export function presentOpenaiVideo(
  task: Task,
  { request, mediaUrl, remixOf, warnings = [] }: OpenaiFacts,
): OpenaiVideo {
  const presented: z.output<typeof taskFields> = presentTask(task, mediaUrl);
  const { status, error, data, progress, duration, completed_at, created_at, size } = presented;
  const asked = request?.kind === 'video' ? request : undefined;
  const planned = typeof asked?.duration === 'number' ? asked.duration : task.seconds;
  return {
    id: task.id,
    object: 'video',
    status: statuses[status],
    progress: progress ?? 0,
    model: task.model,
    prompt: asked?.prompt ?? null,
    seconds: String(planned ?? duration ?? 0),
    size: size ?? task.shape?.size ?? '',
    created_at,
    completed_at: completed_at ?? null,
    expires_at: data[0]?.expires_at ?? null,
    error: error === undefined ? null : { code: error.code, message: error.message },
    remixed_from_video_id: remixOf ?? null,
    ...presentWarnings(warnings),
  };
}
