import { z } from 'zod';
import { FaultSet } from '../fault.ts';
import { isFinal, momentOf } from '../task.ts';
import type { Moment, Task } from '../task.ts';
import type { World } from '../world.ts';

/** What a prediction has to remember of its request. */
export const replicateDetail = z.object({
  kind: z.enum(['video', 'image']),
  width: z.number(),
  height: z.number(),
  seconds: z.number(),
  format: z.enum(['mp4', 'webp', 'jpeg', 'png']),
  input: z.record(z.string(), z.unknown()),
  version: z.string(),
  /** The caller's own deadline, otherwise the one of every run. */
  ownDeadline: z.boolean(),
  events: z.array(z.string()).optional(),
});
export type ReplicateDetail = z.infer<typeof replicateDetail>;
export type Prediction = Task<ReplicateDetail>;

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

export function presentPrediction(task: Prediction, world: World): Record<string, unknown> {
  const now = world.now();
  const moment = momentOf(task, now);
  const isOver = isFinal(moment.phase);
  const isRemoved = isOver && now >= moment.since + dataSeconds * 1000;
  const base = {
    id: task.id,
    model: task.model,
    version: task.detail.version,
    input: isRemoved ? {} : task.detail.input,
    output: null,
    logs: '',
    error: null,
    source: 'api',
    status: wordOf(task, moment),
    created_at: new Date(task.createdAt).toISOString(),
    data_removed: isRemoved,
    ...(task.callbackUrl === undefined ? {} : { webhook: task.callbackUrl }),
    ...(task.detail.events === undefined ? {} : { webhook_events_filter: task.detail.events }),
    urls: urlsOf(task, world),
  };
  const startedAt = task.createdAt + task.queueMs;
  if (moment.phase === 'queued') return base;
  const hasStarted = !isOver || startedAt < moment.since;
  const started = hasStarted ? { ...base, started_at: new Date(startedAt).toISOString() } : base;
  if (!isOver) return started;
  const ended = { ...started, completed_at: new Date(moment.since).toISOString() };
  const metrics = metricsOf(task, moment, hasStarted);
  if (moment.phase !== 'succeeded') return { ...ended, ...errorOf(task, moment), ...metrics };
  return { ...ended, output: isRemoved ? null : outputOf(task, world, moment.since), ...metrics };
}

/** Whether a change to this moment is announced to the webhook. */
export function isAnnounced({ detail: { events } }: Prediction, { phase }: Moment): boolean {
  if (phase === 'queued' || phase === 'unknown') return false;
  return events?.includes(isFinal(phase) ? 'completed' : 'start') ?? true;
}

/** What never began is `aborted`, whoever ended it. */
function wordOf(task: Prediction, { phase, since }: Moment): string {
  if (phase === 'queued') return 'starting';
  if (phase === 'running') return 'processing';
  if (phase === 'unknown') return 'uploading';
  if (phase === 'succeeded' || phase === 'failed') return phase;
  if (phase === 'expired' && !task.detail.ownDeadline) return 'failed';
  return since <= task.createdAt + task.queueMs ? 'aborted' : 'canceled';
}

function errorOf({ detail, faults }: Prediction, { phase }: Moment): Record<string, unknown> {
  if (phase === 'expired') return detail.ownDeadline ? {} : { error: interrupted };
  if (phase !== 'failed') return {};
  const struck = FaultSet.of(faults);
  if (struck.has('moderation-in-task')) return { error: flagged };
  return { error: otherFailures[struck.text('failed') ?? ''] ?? interrupted };
}

/** Which metrics an output has is not verified: its length or number, or with docs-shape times alone. */
function metricsOf(task: Prediction, { phase, since }: Moment, hasStarted: boolean): Record<string, unknown> {
  const faults = FaultSet.of(task.faults);
  if (faults.has('missing-usage') || !hasStarted) return {};
  const factor = faults.usageFactor();
  const run = (since - task.createdAt - task.queueMs) / 1000;
  const times = { predict_time: run * factor, total_time: (since - task.createdAt) / 1000 };
  if (phase !== 'succeeded' || faults.has('docs-shape')) return { metrics: times };
  const { kind, seconds } = task.detail;
  const output =
    kind === 'video' ? { video_output_duration_seconds: seconds * factor } : { image_count: factor };
  return { metrics: { ...times, ...output } };
}

/** A string; with docs-shape a list, as other models answer; with docs-shape=object an object. */
function outputOf(task: Prediction, world: World, since: number): unknown {
  const faults = FaultSet.of(task.faults);
  if (faults.has('missing-url')) return null;
  const { detail } = task;
  const medium =
    detail.format === 'mp4'
      ? world.video(detail, 0, faults)
      : world.image(detail, { format: detail.format, tint: 0, marked: false }, faults);
  const link = world.link(task, medium, since, dataSeconds);
  if (!faults.has('docs-shape')) return link;
  return faults.text('docs-shape') === 'object' ? { [detail.kind]: link, seed: 7 } : [link];
}

function urlsOf({ id }: Prediction, { parts }: World): Record<string, string> {
  const get = `${parts.origin}/replicate/v1/predictions/${id}`;
  return { get, cancel: `${get}/cancel`, web: `https://web.example/p/${id}` };
}
