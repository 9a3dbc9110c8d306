import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { formatMicros } from '../../money/money.ts';
import type { MediaUrl } from '../../models/stored-media.ts';
import { mayUse, type OperatorIdentity } from '../../base/operator.ts';
import { redactUrl } from '../../flight/redact.ts';
import type { LedgerEntry } from '../../ledger/entry.ts';
import type { ChannelHealth } from '../../health/channel-health.ts';
import { channelsAhead, type Surroundings } from '../../task/service.ts';
import { waitCauses, type Stall } from '../../task/wait.ts';
import { waitsOf } from '../../task/state-wait.ts';
import type { Waiting } from '../../commands/task-port.ts';
import { attemptStates, type Attempt } from '../../task/attempt.ts';
import type { Task } from '../../task/record.ts';
import { channelHealthSchema, presentHealth } from './channel-health.ts';
import { deliverySchema, presentCallback } from './callback.ts';
import { presentSituation, situationSchema } from './situation.ts';
import { ledgerEntrySchema, presentLedgerEntry } from './ledger-entry.ts';
import { presentTask, taskFields, type PresentedTask } from './video-task.ts';
import { failureClassSchema, taskKindSchema } from './enums.ts';
import { secondsOrNull, toSeconds, unixSeconds } from './unix-seconds.ts';
import { presentWait, waitSchema } from './wait.ts';

const costSchema = z.object({ amount: z.string(), unit: z.string() }).meta({
  description: 'The cost of the job, as reported by the upstream. Null if it reports nothing.',
});

const costStates = ['known', 'partly', 'unknown'] as const;

export const adminTaskSchema = taskFields
  .extend({
    data: taskFields.shape.data.meta({
      description:
        'The result. An operator without the `content` role gets links without their query, and no `b64_json`.',
    }),
    kind: taskKindSchema,
    account: z.string(),
    key: z.string(),
    request_id: z
      .string()
      .nullable()
      .meta({ description: 'The id of the request that created the task. Repeats have ids of their own.' }),
    channel: z.string().nullable(),
    credential: z.string().nullable(),
    upstream_id: z.string().nullable(),
    hold: z.string(),
    charge: z.string().nullable(),
    charge_estimated: z.boolean(),
    upstream_cost: costSchema.nullable(),
    cost: z.string().nullable().meta({
      description: 'The known upstream cost of all attempts. Null until the task has ended.',
    }),
    cost_state: z.enum(costStates).nullable().meta({
      description:
        '`partly`: the cost of some attempts that may be billed is unknown. `unknown`: the cost of all of them is unknown. Null until the task has ended.',
    }),
    margin: z.string().nullable().meta({
      description: 'The charge minus the cost, before refunds. Null if `cost_state` is not `known`.',
    }),
    withheld_links: z.array(z.string()).meta({
      description:
        'Result links that were withheld from the caller. Operators with the `content` role see them as the upstream delivered them. Other operators see them without user name, password and query string.',
    }),
    queue_position: z.int().nullable().meta({
      description:
        'The number of jobs ahead of this one at the upstream. Null if the upstream does not report it.',
    }),
    deadline_at: unixSeconds(),
    needs_attention: z
      .string()
      .nullable()
      .meta({ description: 'Why the task needs an operator. Null if it needs none.' }),
    situation: situationSchema,
    actions: z.array(
      z.object({
        at: unixSeconds(),
        by: z.string(),
        action: z.string(),
        reason: z.string(),
        detail: z.string().meta({ description: 'The effect of the action.' }),
      }),
    ),
  })
  .meta({ id: 'AdminTask' });

const attemptSchema = z.object({
  n: z.int(),
  state: z.enum(attemptStates),
  channel: z.string(),
  credential: z.string(),
  upstream_id: z.string().nullable(),
  stray_upstream_id: z.string().nullable().meta({
    description:
      'A job that the upstream accepted after the task had moved on. The job may be billed. Null if there is none.',
  }),
  code: z.string().nullable(),
  message: z.string().nullable(),
  class: failureClassSchema.nullable().meta({
    description: 'Set for a job that failed and was replaced, and for a submission that was rejected.',
  }),
  started_at: unixSeconds(),
  ended_at: unixSeconds().nullable(),
});

const waitingSchema = z.object({
  reason: z.enum(['paused', ...waitCauses]).meta({
    description:
      'A code for the reason: `situation.waits_for`, unless the task is paused in Temporal (`paused`) or no worker has taken its next step (`no_worker`).',
  }),
  since: unixSeconds(),
  activity: z.string().nullable().meta({
    description:
      'The submission or polls that the task waits for. Null if it waits for neither or Temporal does not respond.',
  }),
  message: z.string().nullable().meta({ description: 'How the last attempt of `activity` ended.' }),
  next_at: unixSeconds().nullable(),
  polls: z.int().nullable(),
  failed_polls: z.int().nullable().meta({ description: 'The number of consecutive polls that failed.' }),
  last_error: z.string().nullable(),
  last_poll_at: unixSeconds().nullable(),
});

export const adminTaskDetailSchema = adminTaskSchema
  .extend({
    waiting: waitingSchema.nullable().meta({
      description: 'The current wait. Null if the task has ended.',
    }),
    waits: z.array(waitSchema).meta({
      description:
        'The task’s waits, oldest first. The last one may still be in progress. The gap between two waits is at most two seconds.',
    }),
    health: z.array(channelHealthSchema).meta({
      description:
        'The channels that the task needs next but whose health is not `serving`: the one that has its job, or those to which it may be submitted.',
    }),
    attempts: z.array(attemptSchema),
    ledger: z.array(ledgerEntrySchema),
    refunded: z
      .string()
      .nullable()
      .meta({ description: 'The refunded amount. Null if nothing was refunded.' }),
    callback: deliverySchema.nullable().meta({ description: 'Null if no callback has been attempted.' }),
  })
  .meta({ id: 'AdminTaskDetail' });

interface Audience {
  readonly mediaUrl: MediaUrl;
  readonly roles: Roles;
  readonly nodes: Surroundings;
}

export interface TaskRecords extends Audience {
  readonly entries: readonly LedgerEntry[];
  readonly waiting: Waiting | undefined;
  readonly health: readonly ChannelHealth[];
}

export function presentAdminTask(
  task: Task,
  { mediaUrl, roles, nodes }: Audience,
): z.output<typeof adminTaskSchema> {
  return {
    ...presentResult(presentTask(withoutOwnWords(task), mediaUrl), roles),
    kind: task.kind,
    account: task.account,
    key: task.key,
    request_id: task.requestId ?? null,
    channel: task.channel ?? null,
    credential: task.credential ?? null,
    upstream_id: task.upstreamId ?? null,
    hold: formatMicros(task.hold),
    charge: task.charge === undefined ? null : formatMicros(task.charge),
    charge_estimated: task.chargeEstimated ?? false,
    upstream_cost: task.outcome?.cost ?? null,
    ...presentCost(task),
    withheld_links: presentWithheld(task, roles),
    queue_position: task.queuePosition ?? null,
    deadline_at: toSeconds(task.deadlineAt),
    needs_attention: task.attention ?? null,
    situation: presentSituation(task, nodes),
    actions: (task.actions ?? []).map(({ at, by, action, reason, detail }) => ({
      at: toSeconds(at),
      by,
      action,
      reason,
      detail,
    })),
  };
}

export function presentAdminTaskDetail(
  task: Task,
  { entries, waiting, health, ...audience }: TaskRecords,
): z.output<typeof adminTaskDetailSchema> {
  return {
    ...presentAdminTask(task, audience),
    waiting: presentWaiting(presentSituation(task, audience.nodes), waiting),
    waits: waitsOf(task).map(presentWait),
    health: healthBehind(task, health).map(presentHealth),
    attempts: task.attempts.map(presentAttempt),
    ledger: entries.map(presentLedgerEntry),
    refunded: presentRefund(entries),
    callback: task.callback === undefined ? null : presentCallback(task.callback),
  };
}

function healthBehind(task: Task, health: readonly ChannelHealth[]): readonly ChannelHealth[] {
  const ahead = channelsAhead(task);
  return health.filter(({ channel, state }) => ahead.includes(channel) && state !== 'serving');
}

function presentCost({ charge = 0n, cost, costUnknown = 0 }: Task) {
  if (cost === undefined) return { cost: null, cost_state: null, margin: null };
  const state = costUnknown === 0 ? 'known' : cost === 0n ? 'unknown' : 'partly';
  return {
    cost: state === 'unknown' ? null : formatMicros(cost),
    cost_state: state,
    margin: state === 'known' ? formatMicros(charge - cost) : null,
  } as const;
}

type Roles = OperatorIdentity['roles'];

function withoutOwnWords({ error, ...task }: Task): Task {
  if (error === undefined) return task;
  const { messageToCaller: _own, ...shared } = error;
  return { ...task, error: shared };
}

/** Query strings of links grant access, so operators who may not see content get links without them. */
function presentLink(link: string, roles: Roles): string {
  return mayUse({ roles }, 'content') ? link : redactUrl(link, { secrets: [] });
}

function presentWithheld({ outcome }: Task, roles: Roles): string[] {
  const links = outcome?.kind === 'failed' ? (outcome.withheld ?? []) : [];
  return links.map((link) => presentLink(link, roles));
}

function presentResult(presented: PresentedTask, roles: Roles): PresentedTask {
  if (mayUse({ roles }, 'content')) return presented;
  const linkOf = (link: string | undefined) => (link === undefined ? undefined : presentLink(link, roles));
  const data = presented.data.map(({ url, last_frame_url: lastFrameUrl, expires_at: expiresAt }) =>
    defined({ url: linkOf(url), last_frame_url: linkOf(lastFrameUrl), expires_at: expiresAt }),
  );
  return 'video_url' in presented
    ? { ...presented, data, video_url: data[0]?.url ?? '' }
    : { ...presented, data };
}

function presentRefund(entries: readonly LedgerEntry[]): string | null {
  const refund = entries.find(({ kind }) => kind === 'refund');
  return refund === undefined ? null : formatMicros(refund.amount);
}

const stallMessages: Readonly<Record<Stall, string>> = {
  paused:
    'The task is paused in Temporal. Until you resume it there, nothing happens to it, even when its deadline passes.',
  no_worker:
    'No worker has begun the task’s next step: no worker serves its channel, or all of them are busy.',
};

function presentWaiting(
  { waits_for: waitsFor, since }: z.output<typeof situationSchema>,
  waiting: Waiting = {},
): z.output<typeof waitingSchema> | null {
  if (waitsFor === null) return null;
  const { stall } = waiting;
  return {
    reason: stall ?? waitsFor,
    since,
    activity: waiting.activity ?? null,
    message: (stall === undefined ? waiting.message : stallMessages[stall]) ?? null,
    next_at: secondsOrNull(waiting.nextAt),
    polls: waiting.polls ?? null,
    failed_polls: waiting.errors ?? null,
    last_error: waiting.lastError ?? null,
    last_poll_at: secondsOrNull(waiting.lastAt),
  };
}

function presentAttempt(attempt: Attempt): z.output<typeof attemptSchema> {
  return {
    n: attempt.n,
    state: attempt.state,
    channel: attempt.channel,
    credential: attempt.credential,
    upstream_id: attempt.operation?.id ?? null,
    stray_upstream_id: attempt.stray?.id ?? null,
    code: attempt.code ?? null,
    message: attempt.message ?? null,
    class: attempt.failure?.class ?? null,
    started_at: toSeconds(attempt.startedAt),
    ended_at: secondsOrNull(attempt.endedAt),
  };
}
