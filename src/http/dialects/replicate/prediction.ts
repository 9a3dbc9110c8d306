import { z } from 'zod';
import { defined } from '../../../base/defined.ts';
import type { GenerationRequest } from '../../../models/request.ts';
import type { MediaUrl } from '../../../models/stored-media.ts';
import type { Task } from '../../../task/record.ts';
import type { TaskStatus } from '../../../task/task.ts';
import { presentTask, type taskFields } from '../../presenters/video-task.ts';

/** `aborted` is omitted on purpose. The official client does not recognise it as final and would poll forever. */
const statuses = ['starting', 'processing', 'succeeded', 'failed', 'canceled'] as const;

const time = z.string().meta({ description: 'ISO 8601, as in Replicate’s own API.' });

/** Source: the official client (replicate 1.4.0, `index.d.ts`). */
export const predictionSchema = z
  .object({
    id: z.string(),
    model: z.string(),
    version: z.literal('hidden'),
    status: z.enum(statuses),
    input: z.record(z.string(), z.unknown()).meta({ description: 'The input without its media.' }),
    output: z
      .union([z.string(), z.array(z.string())])
      .nullable()
      .meta({ description: 'The video URL, or a list of image URLs.' }),
    error: z.string().nullable(),
    logs: z.literal(''),
    source: z.literal('api'),
    data_removed: z.boolean().meta({ description: 'Whether the request is no longer kept.' }),
    created_at: time,
    completed_at: time.optional(),
    urls: z.object({ get: z.string(), cancel: z.string() }),
    warnings: z.array(z.string()).optional().meta({ description: 'The names of ignored fields.' }),
  })
  .meta({ id: 'Prediction' });

type Prediction = z.output<typeof predictionSchema>;

const words = {
  pending: 'starting',
  submitted: 'starting',
  running: 'processing',
  succeeded: 'succeeded',
  failed: 'failed',
} as const satisfies Record<TaskStatus, Prediction['status']>;

export interface PredictionFacts {
  readonly request: GenerationRequest | undefined;
  readonly mediaUrl: MediaUrl;
  readonly publicUrl: string | undefined;
}

export function presentPrediction(
  task: Task,
  { request, mediaUrl, publicUrl = '' }: PredictionFacts,
): Prediction {
  const { status, error, data }: z.output<typeof taskFields> = presentTask(task, mediaUrl);
  const self = `${publicUrl}/v1/predictions/${task.id}`;
  const { completedAt } = task;
  return {
    id: task.id,
    model: task.model,
    version: 'hidden',
    status: error?.code === 'task_cancelled' ? 'canceled' : words[status],
    input: inputOf(request),
    output: outputOf(
      task,
      data.flatMap(({ url }) => url ?? []),
    ),
    error: error?.message ?? null,
    logs: '',
    source: 'api',
    data_removed: request === undefined,
    created_at: new Date(task.createdAt).toISOString(),
    ...(completedAt === undefined ? {} : { completed_at: new Date(completedAt).toISOString() }),
    urls: { get: self, cancel: `${self}/cancel` },
  };
}

function outputOf({ kind }: Task, [first, ...others]: readonly string[]): Prediction['output'] {
  if (first === undefined) return null;
  return kind === 'image' ? [first, ...others] : first;
}

function inputOf(request: GenerationRequest | undefined): Prediction['input'] {
  if (request === undefined) return {};
  if (request.kind === 'image') {
    const { prompt, n, size, quality } = request;
    return defined({ prompt, num_outputs: n, size, quality, seed: request.extra['seed'] });
  }
  const { prompt, duration, resolution, ratio, seed } = request;
  return defined({ prompt, duration, resolution, aspect_ratio: ratio, seed });
}
