import { z } from 'zod';
import { rendered } from '../job.ts';
import type { Job } from '../job.ts';
import { isFinal } from '../task.ts';

/** What a prediction has to remember of its request. */
export const replicateDetail = z.object({
  ...rendered,
  format: z.enum(['webp', 'jpeg', 'png']),
  input: z.record(z.string(), z.unknown()),
  version: z.string(),
  events: z.array(z.string()).optional(),
});
export type ReplicateDetail = z.infer<typeof replicateDetail>;
export type Prediction = Job<ReplicateDetail>;

/** How long inputs, outputs and files are kept after the end. */
const dataSeconds = 3600;
const flagged =
  'The input or output was flagged as sensitive. Please try again with different inputs. (E005)';
const interrupted = 'Prediction interrupted; please retry (code: PA)';
/** `failed=<name>`: one of the vendor's other texts. */
const otherFailures: Readonly<Record<string, string>> = {
  E006: 'Invalid input: could not download the file. (E006)',
  memory: 'CUDA out of memory',
  E9243: 'Director: unexpected error handling prediction (E9243)',
};

export function presentPrediction(job: Prediction): Record<string, unknown> {
  const { task, detail, world, now, phase, since } = job;
  const isOver = isFinal(phase);
  const isRemoved = isOver && now >= since + dataSeconds * 1000;
  const startedAt = task.createdAt + task.queueMs;
  const hasStarted = phase !== 'queued' && (!isOver || startedAt < since);
  const get = `${world.parts.origin}/replicate/v1/predictions/${task.id}`;
  const date = (time: number) => new Date(time).toISOString();
  return {
    id: task.id,
    model: task.model,
    version: detail.version,
    input: isRemoved ? {} : detail.input,
    output: phase === 'succeeded' && !isRemoved ? outputOf(job) : null,
    logs: '',
    error: errorOf(job),
    source: 'api',
    status: wordOf(job),
    created_at: date(task.createdAt),
    started_at: hasStarted ? date(startedAt) : undefined,
    completed_at: isOver ? date(since) : undefined,
    data_removed: isRemoved,
    webhook: task.callbackUrl,
    webhook_events_filter: detail.events,
    urls: { get, cancel: `${get}/cancel`, web: `https://web.example/p/${task.id}` },
    metrics: isOver && hasStarted ? job.reported(metricsOf(job)) : undefined,
  };
}

/** Whether a change to this moment is announced to the webhook. */
export function isAnnounced({ detail, phase }: Prediction): boolean {
  if (phase === 'queued' || phase === 'unknown') return false;
  return detail.events?.includes(isFinal(phase) ? 'completed' : 'start') ?? true;
}

/** What never began is `aborted`, whoever ended it. */
function wordOf({ task, phase, since }: Prediction): string {
  if (phase === 'queued') return 'starting';
  if (phase === 'running') return 'processing';
  if (phase === 'unknown') return 'uploading';
  if (phase === 'succeeded' || phase === 'failed') return phase;
  if (phase === 'expired') return 'failed';
  return since <= task.createdAt + task.queueMs ? 'aborted' : 'canceled';
}

function errorOf({ phase, faults }: Prediction): string | null {
  if (phase === 'expired') return interrupted;
  if (phase !== 'failed') return null;
  if (faults.has('moderation-in-task')) return flagged;
  return otherFailures[faults.text('failed') ?? ''] ?? interrupted;
}

/** Which metrics an output has is not verified: its length or number, or with docs-shape times alone. */
function metricsOf(job: Prediction): Record<string, unknown> {
  const { task, detail, phase, since, faults } = job;
  const times = {
    predict_time: job.billed((since - task.createdAt - task.queueMs) / 1000),
    total_time: (since - task.createdAt) / 1000,
  };
  if (phase !== 'succeeded' || faults.has('docs-shape')) return times;
  return detail.images === 0
    ? { ...times, video_output_duration_seconds: job.billed(detail.seconds) }
    : { ...times, image_count: job.billed(detail.images) };
}

/** A string; with docs-shape a list, as other models answer; with docs-shape=object an object. */
function outputOf(job: Prediction): unknown {
  const { detail, faults } = job;
  const [link] = job.links({ lifetimeSeconds: dataSeconds, look: { format: detail.format } });
  if (link === undefined) return null;
  if (!faults.has('docs-shape')) return link;
  const name = detail.images === 0 ? 'video' : 'image';
  return faults.text('docs-shape') === 'object' ? { [name]: link, seed: 7 } : [link];
}
