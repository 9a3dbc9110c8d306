import { defined } from '../../domain/defined.ts';
import { z } from 'zod';
import { waitMessages } from '../../domain/wait-reason.ts';
import { attentionMessages } from '../../domain/attention.ts';
import { formatMicros } from '../../domain/money.ts';
import { isTerminal, statusMessages, taskStatuses } from '../../domain/task.ts';
import type { MediaLink, MediaUrl } from '../../domain/stored-media.ts';
import { taskErrorCodes } from '../../domain/errors.ts';
import { failureClasses, moderatedInputs } from '../../domain/failure.ts';
import type { ResultItem, SettleFacts, TaskError } from '../../domain/task.ts';
import type { Task } from '../../domain/task-record.ts';
import { toSeconds, unixSeconds } from './unix-seconds.ts';

const resultSchema = z.object({
  url: z.string().optional(),
  b64_json: z.string().optional(),
  last_frame_url: z.string().optional(),
  expires_at: unixSeconds('Until then the link works.').optional(),
});

/** Seconds until the end of the render. */
export const etaSchema = z.object({
  p50: z.int().meta({ description: 'Half of such tasks end within this time.' }),
  p90: z.int().meta({ description: 'Nine of ten such tasks end within this time.' }),
});

const taskErrorSchema = z.object({
  message: z.string(),
  code: z.enum(taskErrorCodes),
  class: z.enum(failureClasses).optional().meta({
    description: 'What the failure was: see docs/errors.md.',
  }),
  field: z
    .string()
    .optional()
    .meta({ description: 'With `invalid_input`: the field that the upstream named, if it named one.' }),
  input: z
    .enum(moderatedInputs)
    .optional()
    .meta({ description: 'With `moderation_input`: what was refused, if the upstream says so.' }),
});

/** What GET, list, cancel and the callback say of a task. */
export const taskSchema = z
  .object({
    id: z.string(),
    task_id: z.string(),
    object: z.enum(['video.generation.task', 'image.generation.task']),
    status: z.enum(taskStatuses),
    message: z.string(),
    trace_id: z.string().meta({ description: "The upstream's trace id; empty until it has given one." }),
    model: z.string(),
    created_at: unixSeconds(),
    updated_at: unixSeconds(),
    completed_at: unixSeconds().optional(),
    progress: z.number().optional().meta({ description: '0-100, if the upstream reports it.' }),
    eta_seconds: etaSchema.optional().meta({
      description: 'Of an unfinished task, as far as render times were learned.',
    }),
    data: z.array(resultSchema),
    video_url: z.string().optional(),
    duration: z.number().optional().meta({ description: 'Seconds.' }),
    usage: z
      .object({ completion_tokens: z.number().optional(), total_tokens: z.number().optional() })
      .optional()
      .meta({ description: 'Present on success; a count that the upstream does not report is absent.' }),
    error: taskErrorSchema.optional(),
    estimate: z.string().optional().meta({
      description: 'What an unfinished task is expected to be charged; more may be held for it.',
    }),
    charge: z.string().optional().meta({ description: 'What a task that succeeded was charged.' }),
  })
  .meta({ id: 'Task' });

export type PresentedTask = z.output<typeof taskSchema>;

/** A task's wire form, made of its record and the links to our copies: the body of GET and of the callback. */
export function presentTask(task: Task, mediaUrl: MediaUrl): PresentedTask {
  return {
    id: task.id,
    task_id: task.id,
    object: `${task.kind}.generation.task`,
    status: task.status,
    message: messageOf(task),
    trace_id: task.traceId,
    model: task.model,
    created_at: toSeconds(task.createdAt),
    updated_at: toSeconds(task.updatedAt),
    ...(task.completedAt === undefined ? {} : { completed_at: toSeconds(task.completedAt) }),
    ...defined({ progress: task.progress }),
    ...presentResult(task, mediaUrl),
    ...presentMoney(task),
  };
}

/** What a task will cost, then what it did; nothing of one that failed. */
function presentMoney({ status, estimate, charge }: Task): Pick<PresentedTask, 'estimate' | 'charge'> {
  const amount = (micros: bigint | undefined) => (micros === undefined ? undefined : formatMicros(micros));
  if (status === 'succeeded') return defined({ charge: amount(charge) });
  return isTerminal(status) ? {} : defined({ estimate: amount(estimate) });
}

/** A task that waits says so to its owner too, in words that concern its owner. */
function messageOf({ status, attention, waitsFor }: Task): string {
  if (isTerminal(status)) return statusMessages[status];
  if (attention !== undefined) return attentionMessages[attention];
  return waitsFor === undefined ? statusMessages[status] : waitMessages[waitsFor];
}

type ResultFields = Pick<PresentedTask, 'data' | 'video_url' | 'duration' | 'usage' | 'error'>;

/** The poll writes the outcome before it is paid for: it is visible only once the status is final. */
function presentResult(task: Task, mediaUrl: MediaUrl): ResultFields {
  const { status, kind, outcome, error } = task;
  if (status === 'failed') return { data: [], error: presentFailure(error) };
  if (status !== 'succeeded' || outcome?.kind !== 'succeeded') return { data: [] };
  const data = outcome.items.map((item) => presentItem(item, (name, at) => mediaUrl(task.id, name, at)));
  const usage = presentUsage(outcome.facts);
  const url = data[0]?.url;
  if (kind === 'image') return { data, usage };
  return {
    data,
    ...defined({ video_url: url }),
    ...defined({ duration: outcome.facts.durationSeconds }),
    usage,
  };
}

type LinkOf = (name: string, storedAt: number) => MediaLink | undefined;

/** Our copy where there is one, else the upstream's link. */
function presentItem(item: ResultItem, linkOf: LinkOf): PresentedTask['data'][number] {
  const { stored } = item;
  const copy = stored === undefined ? undefined : linkOf(stored.name, stored.at);
  const frame = stored?.lastFrame === undefined ? undefined : linkOf(stored.lastFrame, stored.at);
  const url = copy?.url ?? item.url;
  const lastFrameUrl = frame?.url ?? item.lastFrameUrl;
  const expiresAt = copy?.expiresAt ?? item.expiresAt;
  return {
    ...defined({ url }),
    ...defined({ b64_json: item.base64 }),
    ...defined({ last_frame_url: lastFrameUrl }),
    ...defined({ expires_at: expiresAt }),
  };
}

/** An upstream that reports one of the two counts means both: prompts of videos cost no tokens. */
function presentUsage({ usage }: SettleFacts): NonNullable<PresentedTask['usage']> {
  const completion = usage?.completionTokens ?? usage?.totalTokens;
  const total = usage?.totalTokens ?? usage?.completionTokens;
  return {
    ...defined({ completion_tokens: completion }),
    ...defined({ total_tokens: total }),
  };
}

function presentFailure(error: TaskError | undefined): NonNullable<PresentedTask['error']> {
  return {
    message: error?.message ?? statusMessages.failed,
    code: error?.code ?? 'internal_error',
    ...defined({ class: error?.class, field: error?.field, input: error?.input }),
  };
}
