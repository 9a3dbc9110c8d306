import { z } from 'zod';
import type { ChannelConfig } from '../../config/gateway-file.ts';
import { serviceUnavailable } from '../../errors/errors.ts';
import { marginOf, type MarginRow } from '../../money/margin.ts';
import { formatMicros } from '../../money/money.ts';
import type { ChannelHealth } from '../../health/channel-health.ts';
import type { RouteDeps } from '../deps.ts';
import type { SeenBalance } from '../../routing/vendor-balances.ts';
import type { ChannelCounts } from '../../reports/census.ts';
import { channelHealthSchema, presentHealth } from './channel-health.ts';
import { failureClassSchema } from './enums.ts';
import { secondsOrNull, tenths, toSeconds, unixSeconds } from './unix-seconds.ts';

export const channelSchema = z
  .object({
    object: z.literal('channel'),
    id: z.string(),
    provider: z.string(),
    enabled: z.boolean().meta({
      description: 'Whether both the configuration and the switch allow new tasks on the channel.',
    }),
    configured: z.boolean().meta({ description: "The configuration file's `enabled`." }),
    switch: z
      .object({ enabled: z.boolean(), by: z.string(), reason: z.string(), at: unixSeconds() })
      .nullable()
      .meta({ description: "The operators' switch. Null if it was never used." }),
    priority: z.number(),
    weight: z.number(),
    models: z.array(z.string()),
    credentials: z.array(z.string()),
    limits: z.record(z.string(), z.unknown()),
    health: channelHealthSchema,
  })
  .meta({ id: 'Channel' });

/** Contains no secrets. Credentials appear only by name, and URLs are omitted. */
export function presentChannel(
  channel: ChannelConfig,
  channelSwitches: RouteDeps['channelSwitches'],
  known: readonly ChannelHealth[],
): z.output<typeof channelSchema> {
  const state = channelSwitches.find(channel.id);
  const health = known.find((one) => one.channel === channel.id);
  if (health === undefined)
    throw serviceUnavailable(`${channel.id} is no longer in the running configuration`);
  return {
    object: 'channel',
    id: channel.id,
    provider: channel.provider,
    enabled: channel.enabled && state?.enabled !== false,
    configured: channel.enabled,
    switch:
      state === undefined
        ? null
        : { enabled: state.enabled, by: state.by, reason: state.reason, at: toSeconds(state.at) },
    priority: channel.priority,
    weight: channel.weight,
    models: Object.keys(channel.models),
    credentials: channel.credentials.map(({ id }) => id),
    limits: { ...channel.limits },
    health: presentHealth(health),
  };
}

export const balancesSchema = z
  .array(
    z.object({
      credential: z.string(),
      upstream_balance: z
        .string()
        .nullable()
        .meta({ description: 'A decimal. Null if the vendor has not been asked yet, or did not report it.' }),
      unit: z.string().nullable().meta({ description: 'A currency, or the vendor’s own unit.' }),
      at: unixSeconds('When the vendor responded, or failed to respond.').nullable(),
      problem: z.string().nullable().meta({ description: 'Why the balance is unknown.' }),
    }),
  )
  .meta({ id: 'VendorBalances' });

export function presentBalance(seen: SeenBalance): z.output<typeof balancesSchema>[number] {
  const { credential, balance, at, problem = null } = seen;
  return {
    credential,
    upstream_balance: balance?.amount ?? null,
    unit: balance?.unit ?? null,
    at: secondsOrNull(at),
    problem,
  };
}

export const slotsSchema = z
  .object({ in_use: z.int(), limit: z.int() })
  .meta({ id: 'Slots', description: 'The sum over all credentials.' });

export const recentSchema = z
  .object({
    since: unixSeconds(),
    tasks: z
      .int()
      .meta({ description: 'The number of tasks that were created since `since` and sent to this channel.' }),
    succeeded: z.int(),
    failures: z.array(z.object({ class: failureClassSchema, count: z.int() })),
    mean_seconds: z.number().nullable().meta({
      description: 'The mean time from creation to end for successful tasks. Null if no task has succeeded.',
    }),
    longest_seconds: z.number().nullable(),
  })
  .meta({ id: 'RecentTasks' });

export function presentRecent(
  { tasks, succeeded, failures, meanMs, longestMs }: ChannelCounts,
  since: number,
): z.output<typeof recentSchema> {
  return {
    since: toSeconds(since),
    tasks,
    succeeded,
    failures: [...failures],
    mean_seconds: meanMs === undefined ? null : tenths(meanMs),
    longest_seconds: longestMs === undefined ? null : tenths(longestMs),
  };
}

export const todaySchema = z
  .object({
    charged: z.string().meta({ description: 'Charges minus refunds.' }),
    cost: z.string().meta({ description: 'The known part of the cost.' }),
    cost_unknown: z.int(),
    margin: z.string(),
  })
  .meta({ id: 'ChannelToday', description: 'Sums over the tasks that ended today (UTC).' });

export function presentToday(row: MarginRow): z.output<typeof todaySchema> {
  return {
    charged: formatMicros(row.charged - row.refunded),
    cost: formatMicros(row.cost),
    cost_unknown: row.unknown,
    margin: formatMicros(marginOf(row)),
  };
}
