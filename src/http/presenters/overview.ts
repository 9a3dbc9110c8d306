import { z } from 'zod';
import { attentionReasons } from '../../task/attention.ts';
import type { Census, Lateness, Throughput } from '../../reports/census.ts';
import { formatMicros } from '../../money/money.ts';
import type { Notice } from '../../base/notice.ts';
import { isNotable, type ChannelHealth } from '../../health/channel-health.ts';
import { adminName, operatorRoles, type OperatorIdentity } from '../../base/operator.ts';
import { channelHealthSchema, presentHealth } from './channel-health.ts';
import { failureClassSchema } from './enums.ts';
import { noticeSchema, presentNotice } from './notice.ts';
import { secondsOrNull, tenths, toSeconds, unixSeconds } from './unix-seconds.ts';

const throughputSchema = z.object({
  created: z.int(),
  succeeded: z.int(),
  failures: z.array(z.object({ class: failureClassSchema, count: z.int() })),
});

export const overviewSchema = z
  .object({
    object: z.literal('overview'),
    counted_at: unixSeconds('When the counts were taken. They are reused for a few seconds.'),
    operator: z
      .object({
        name: z.string(),
        roles: z.array(z.enum([...operatorRoles, adminName])),
        operations: z.array(z.string()),
      })
      .meta({
        description:
          'The owner of the request’s token, and the operators’ API operations that the token allows.',
      }),
    first_run: z.boolean().meta({ description: 'True if there are no accounts yet.' }),
    currency: z.string(),
    workflows_url: z.string().nullable().meta({
      description:
        'Append a task id to get the URL of its workflow in the Temporal UI. Null if TEMPORAL_UI_URL is not set.',
    }),
    money: z.object({ available: z.string(), held: z.string(), overdrawn: z.int() }).meta({
      description: 'Sums over all accounts. `overdrawn` is the number of accounts with a negative balance.',
    }),
    unfinished: z.array(
      z.object({
        state: z.string(),
        channel: z
          .string()
          .meta({ description: 'The channel where the job is, or where it will be submitted next.' }),
        waits_for: z
          .string()
          .meta({ description: 'Empty if the tasks are not waiting for anything in particular.' }),
        count: z.int(),
        since: unixSeconds('When the oldest of these tasks began to wait.'),
      }),
    ),
    attention: z.array(
      z.object({
        reason: z.enum(attentionReasons),
        channel: z.string(),
        count: z.int(),
        since: unixSeconds('When the oldest of these tasks began to wait.'),
      }),
    ),
    callbacks: z.array(
      z.object({
        state: z.enum(['due', 'failing', 'abandoned']),
        count: z.int(),
        since: unixSeconds('When the task of the oldest callback ended.').nullable(),
      }),
    ),
    throughput: z.object({ hour: throughputSchema, day: throughputSchema }).meta({
      description: 'How many tasks were created, and how many ended, in the last hour and day.',
    }),
    delivery: z.object({ tasks: z.int(), p50_seconds: z.number(), p95_seconds: z.number() }).nullable().meta({
      description:
        'The time from the end of the upstream’s render to the end of the task, for up to 1,000 of the newest tasks from the last three hours. Null if no upstream has reported when a render ended.',
    }),
    channels: z.array(channelHealthSchema).meta({
      description:
        'The channels whose health is not `serving`. A paused channel is listed while tasks wait for it.',
    }),
    notices: z
      .array(noticeSchema)
      .meta({ description: 'The conditions that need an operator, whether or not anybody was notified.' }),
  })
  .meta({ id: 'Overview' });

export interface Counted {
  readonly census: Census;
  readonly throughput: { readonly hour: Throughput; readonly day: Throughput };
  readonly lateness: Lateness | undefined;
  readonly notices: readonly Notice[];
  readonly isFirstRun: boolean;
  readonly health: readonly ChannelHealth[];
}

interface Audience extends OperatorIdentity {
  readonly operations: readonly string[];
  readonly workflowsUrl: string | undefined;
}

export function presentOverview(
  { census, throughput: { hour, day }, lateness, notices, isFirstRun, health }: Counted,
  { name, roles, operations, workflowsUrl }: Audience,
): z.output<typeof overviewSchema> {
  const { at, currency, money } = census;
  return {
    object: 'overview',
    counted_at: toSeconds(at),
    operator: {
      name,
      roles: roles === 'admin' ? [...operatorRoles, adminName] : [...roles],
      operations: [...operations],
    },
    first_run: isFirstRun,
    currency,
    workflows_url: workflowsUrl ?? null,
    money: {
      available: formatMicros(money.available),
      held: formatMicros(money.held),
      overdrawn: money.overdrawn,
    },
    unfinished: census.tasks.map(({ state, channel, wait, count, since }) => ({
      state,
      channel,
      waits_for: wait,
      count,
      since: toSeconds(since),
    })),
    attention: census.attention.map(({ since, ...row }) => ({ ...row, since: toSeconds(since) })),
    callbacks: census.callbacks.map(({ state, count, since }) => ({
      state,
      count,
      since: secondsOrNull(since),
    })),
    throughput: { hour: presentThroughput(hour), day: presentThroughput(day) },
    delivery: lateness === undefined ? null : presentLateness(lateness),
    channels: health.filter(isNotable).map(presentHealth),
    notices: notices.map(presentNotice),
  };
}

function presentThroughput({ failures, ...counts }: Throughput): z.output<typeof throughputSchema> {
  return { ...counts, failures: [...failures] };
}

function presentLateness({ tasks, p50Ms, p95Ms }: Lateness) {
  return { tasks, p50_seconds: tenths(p50Ms), p95_seconds: tenths(p95Ms) };
}
