import { z } from 'zod';
import type { MediaUrl } from '../../../models/stored-media.ts';
import type { Task } from '../../../task/record.ts';
import type { TaskStatus } from '../../../task/task.ts';
import { presentTask, type taskFields } from '../../presenters/video-task.ts';

const statuses = ['pending', 'in_progress', 'completed', 'failed', 'cancelled', 'expired'] as const;

/** Source: the official client (@openrouter/sdk 1.3.19, `models/videogenerationresponse.ts`). */
export const openrouterJobSchema = z
  .object({
    id: z.string(),
    polling_url: z.string(),
    status: z.enum(statuses),
    error: z.string().optional(),
    unsigned_urls: z
      .array(z.string())
      .optional()
      .meta({ description: 'The video URL. Fetching it requires the API key.' }),
    usage: z
      .object({ cost: z.number().nullable(), is_byok: z.literal(false) })
      .optional()
      .meta({ description: '`cost` is in US dollars. It is null if the gateway uses another currency.' }),
    warnings: z.array(z.string()).optional().meta({ description: 'The names of ignored fields.' }),
  })
  .meta({ id: 'OpenrouterJob' });

type OpenrouterJob = z.output<typeof openrouterJobSchema>;

const words = {
  pending: 'pending',
  submitted: 'pending',
  running: 'in_progress',
  succeeded: 'completed',
  failed: 'failed',
} as const satisfies Record<TaskStatus, OpenrouterJob['status']>;

export interface OpenrouterFacts {
  readonly mediaUrl: MediaUrl;
  readonly publicUrl: string | undefined;
  readonly currency: string;
}

const dollars = 'USD';

export function presentOpenrouterJob(
  task: Task,
  { mediaUrl, publicUrl, currency }: OpenrouterFacts,
): OpenrouterJob {
  const { status, error, data, charge }: z.output<typeof taskFields> = presentTask(task, mediaUrl);
  const polling_url = pollingUrl(task.id, publicUrl);
  const ended = { task_expired: 'expired', task_cancelled: 'cancelled' } as const;
  const word =
    error?.code === 'task_expired' || error?.code === 'task_cancelled' ? ended[error.code] : words[status];
  const about = { id: task.id, polling_url, status: word };
  if (error !== undefined) return { ...about, error: error.message };
  if (status !== 'succeeded') return about;
  const cost = currency === dollars && charge !== undefined ? Number(charge) : null;
  const unsigned_urls = data.map((_, index) => `${polling_url}/content?index=${index}`);
  return { ...about, unsigned_urls, usage: { cost, is_byok: false } };
}

/** The URL is relative if the gateway does not know its own URL. OpenRouter sometimes does the same. */
export function pollingUrl(id: string, publicUrl = ''): string {
  return `${publicUrl}/api/v1/videos/${id}`;
}
