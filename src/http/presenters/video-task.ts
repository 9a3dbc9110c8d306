import { defined } from '../../base/defined.ts';
import { z } from 'zod';
import { waitOf } from '../../task/state-wait.ts';
import { isNamed, openWaitWords } from '../../task/wait.ts';
import { attentionMessages } from '../../task/attention.ts';
import { formatMicros } from '../../money/money.ts';
import { isTerminal, statusMessages, taskStatuses } from '../../task/task.ts';
import type { MediaLink, MediaUrl } from '../../models/stored-media.ts';
import { moderatedInputs } from '../../errors/failure.ts';
import type { ResultItem, TaskError } from '../../task/task.ts';
import type { SettleFacts } from '../../money/settle-facts.ts';
import type { TaskKind } from '../../base/task-kind.ts';
import type { VideoShape } from '../../models/video-shapes.ts';
import type { Task } from '../../task/record.ts';
import { listedPromptCharactersMax } from '../../models/request.ts';
import { failureClassSchema, taskErrorCodeSchema, taskStatusSchema } from './enums.ts';
import { toSeconds, unixSeconds } from './unix-seconds.ts';

const resultSchema = z.object({
  url: z.string().optional(),
  b64_json: z.string().optional(),
  last_frame_url: z.string().optional(),
  expires_at: unixSeconds('The link works until this time.').optional(),
});

/** The estimated time until the render is finished, in seconds. */
export const etaSchema = z.object({
  p50: z.int().meta({ description: 'Half of all similar tasks end within this time.' }),
  p90: z.int().meta({ description: 'Nine out of ten similar tasks end within this time.' }),
});

const taskErrorSchema = z.object({
  message: z.string(),
  code: taskErrorCodeSchema,
  class: failureClassSchema.optional(),
  field: z.string().optional().meta({
    description: 'The field that the upstream named, if any. Set only if the class is `invalid_input`.',
  }),
  input: z.enum(moderatedInputs).optional().meta({
    description:
      'The kind of input that was rejected, if the upstream reports it. Set only if the class is `moderation_input`.',
  }),
});

export const taskFields = z.object({
  id: z.string(),
  task_id: z.string(),
  object: z.enum(['video.generation.task', 'image.generation.task']),
  status: taskStatusSchema,
  message: z.string(),
  trace_id: z
    .string()
    .meta({ description: "The upstream's trace id. Empty until the upstream reports one." }),
  model: z.string(),
  created_at: unixSeconds(),
  updated_at: unixSeconds(),
  completed_at: unixSeconds().optional(),
  progress: z.number().optional().meta({ description: '0-100, if the upstream reports progress.' }),
  eta_seconds: etaSchema.optional().meta({
    description: 'Present for an unfinished task if render times are known.',
  }),
  data: z.array(resultSchema),
  video_url: z.string().optional(),
  duration: z.number().optional().meta({
    description:
      'The length in seconds, as reported by the upstream or, if it reports none, as charged. 0 if unknown.',
  }),
  resolution: z.string().optional().meta({
    description:
      'The video’s resolution: the rendered one if known, otherwise the requested one. Absent while the model may still choose the resolution or the ratio.',
  }),
  ratio: z.string().optional().meta({
    description: 'The video’s aspect ratio, under the same rules as `resolution`.',
  }),
  size: z.string().optional().meta({
    description: 'The video’s size, `<width>x<height>`, under the same rules as `resolution`.',
  }),
  usage: z.object({ completion_tokens: z.number(), total_tokens: z.number() }).optional().meta({
    description: 'As reported by the upstream. 0 if the upstream does not count tokens.',
  }),
  error: taskErrorSchema.optional(),
  estimate: z.string().optional().meta({
    description: 'The expected charge of an unfinished task. The hold may be higher.',
  }),
  charge: z.string().optional().meta({ description: 'The charge for a task that succeeded.' }),
});

const shapeFields = { resolution: true, ratio: true, size: true } as const;

const unfinishedTask = taskFields
  .omit({ completed_at: true, video_url: true, duration: true, usage: true, error: true, charge: true })
  .extend({ status: z.enum(taskStatuses).exclude(['succeeded', 'failed']) })
  .meta({ id: 'UnfinishedTask' });

const succeededVideo = taskFields
  .omit({ eta_seconds: true, error: true, estimate: true })
  .required()
  .extend({
    ...taskFields.pick(shapeFields).shape,
    object: z.literal('video.generation.task'),
    status: z.literal('succeeded'),
    progress: z.literal(100),
  })
  .meta({ id: 'SucceededVideo' });

const succeededImage = succeededVideo
  .omit({ video_url: true, duration: true, ...shapeFields })
  .extend({ object: z.literal('image.generation.task') })
  .meta({ id: 'SucceededImage' });

const failedTask = taskFields
  .omit({ eta_seconds: true, video_url: true, duration: true, usage: true, estimate: true, charge: true })
  .omit(shapeFields)
  .required({ completed_at: true, error: true })
  .extend({ status: z.literal('failed') })
  .meta({ id: 'FailedTask' });

export const endedTaskSchema = z.union([succeededVideo, succeededImage, failedTask]);

export const taskSchemas = {
  video: z.discriminatedUnion('status', [unfinishedTask, succeededVideo, failedTask]).meta({
    id: 'VideoTask',
  }),
  image: z.discriminatedUnion('status', [unfinishedTask, succeededImage, failedTask]).meta({
    id: 'ImageTask',
  }),
} as const satisfies Record<TaskKind, z.ZodType>;

const page = z.object({
  object: z.literal('list'),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
  prompts: z
    .record(z.string(), z.string())
    .optional()
    .meta({
      description: `The first ${listedPromptCharactersMax} characters of each prompt, by task id, as long as the request is kept. Present only with \`include=prompts\`.`,
    }),
});

export const taskListSchemas = {
  video: page.extend({ data: z.array(taskSchemas.video) }).meta({ id: 'VideoTaskList' }),
  image: page.extend({ data: z.array(taskSchemas.image) }).meta({ id: 'ImageTaskList' }),
} as const;

export type PresentedTask = z.output<(typeof taskSchemas)[TaskKind]>;

/** Presents a task for GET responses and callback bodies. */
export function presentTask(task: Task, mediaUrl: MediaUrl): PresentedTask {
  const { status } = task;
  switch (status) {
    case 'succeeded':
      return presentSucceeded(task, mediaUrl);
    case 'failed':
      return {
        ...presentCommon(task),
        status,
        ...presentEnd(task),
        ...defined({ progress: task.progress }),
        data: [],
        error: presentFailure(task.error),
      };
    case 'pending':
    case 'submitted':
    case 'running':
      // Hide the outcome until the status is final. The poll stores the outcome before the task is charged.
      return {
        ...presentCommon(task),
        status,
        ...defined({ progress: task.progress }),
        data: [],
        ...task.shape,
        ...defined({ estimate: task.estimate === undefined ? undefined : formatMicros(task.estimate) }),
      };
    default:
      return status satisfies never;
  }
}

function presentCommon(task: Task) {
  return {
    id: task.id,
    task_id: task.id,
    object: `${task.kind}.generation.task`,
    message: messageOf(task),
    trace_id: task.traceId,
    model: task.model,
    created_at: toSeconds(task.createdAt),
    updated_at: toSeconds(task.updatedAt),
  } as const;
}

function presentEnd({ completedAt, updatedAt }: Task) {
  return { completed_at: toSeconds(completedAt ?? updatedAt) };
}

function presentSucceeded(task: Task, mediaUrl: MediaUrl): PresentedTask {
  const { outcome } = task;
  const { items = [], facts = {} } = outcome?.kind === 'succeeded' ? outcome : {};
  const data = items.map((item) => presentItem(item, (name, at) => mediaUrl(task.id, name, at)));
  const result = {
    ...presentCommon(task),
    status: 'succeeded',
    ...presentEnd(task),
    progress: 100,
    data,
    usage: presentUsage(facts),
    charge: formatMicros(task.charge ?? 0n),
  } as const;
  if (task.kind === 'image') return { ...result, object: 'image.generation.task' };
  return {
    ...result,
    object: 'video.generation.task',
    video_url: data[0]?.url ?? '',
    duration: facts.durationSeconds ?? task.seconds ?? 0,
    ...presentShape(facts, task.shape),
  };
}

/** If the actual resolution or ratio differs from the plan, the planned pixel size no longer applies. */
function presentShape({ size, ...facts }: SettleFacts, planned: Task['shape']): Partial<VideoShape> {
  const { resolution = planned?.resolution, ratio = planned?.ratio } = facts;
  const isAsPlanned =
    ratio === planned?.ratio && resolution?.toLowerCase() === planned?.resolution.toLowerCase();
  return defined({ resolution, ratio, size: size ?? (isAsPlanned ? planned?.size : undefined) });
}

/** Uses terms that the task's owner understands. */
function messageOf(task: Task): string {
  const { status, attention } = task;
  if (isTerminal(status)) return statusMessages[status];
  if (attention !== undefined) return attentionMessages[attention];
  const wait = waitOf(task);
  return wait !== undefined && isNamed(wait.cause) ? openWaitWords(wait) : statusMessages[status];
}

type LinkOf = (name: string, storedAt: number) => MediaLink | undefined;

function presentItem(item: ResultItem, linkOf: LinkOf): PresentedTask['data'][number] {
  const { stored } = item;
  const copy = stored === undefined ? undefined : linkOf(stored.name, stored.at);
  const frame = stored?.lastFrame === undefined ? undefined : linkOf(stored.lastFrame, stored.at);
  return defined({
    url: copy?.url ?? item.url,
    b64_json: item.base64,
    last_frame_url: frame?.url ?? item.lastFrameUrl,
    expires_at: copy?.expiresAt ?? item.expiresAt,
  });
}

/** Video prompts cost no tokens. If the upstream reports only one of the two counts, it is used for both. */
function presentUsage({ usage }: SettleFacts): { completion_tokens: number; total_tokens: number } {
  const completion = usage?.completionTokens ?? usage?.totalTokens ?? 0;
  return { completion_tokens: completion, total_tokens: usage?.totalTokens ?? completion };
}

function presentFailure(error: TaskError | undefined): z.output<typeof taskErrorSchema> {
  return {
    message: error?.messageToCaller ?? error?.message ?? statusMessages.failed,
    code: error?.code ?? 'internal_error',
    ...defined({ class: error?.class, field: error?.field, input: error?.input }),
  };
}
