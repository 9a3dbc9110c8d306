import { z } from 'zod';
import { dayMs, utcDay } from '../../base/times.ts';
import type { MarginRow } from '../../money/margin.ts';
import type { Census } from '../../reports/census.ts';
import type { RouteDeps } from '../deps.ts';
import {
  balancesSchema,
  channelSchema,
  presentBalance,
  presentChannel,
  presentRecent,
  presentToday,
  recentSchema,
  slotsSchema,
  todaySchema,
} from '../presenters/channel.ts';
import { listSchema } from '../presenters/list.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';
import { createSharedRead } from '../../base/shared-read.ts';
import { createVendorBalances } from '../../routing/vendor-balances.ts';
import { withTimeout } from '../with-timeout.ts';

type Deps = Pick<
  RouteDeps,
  | 'catalogue'
  | 'channels'
  | 'channelSwitches'
  | 'readHealth'
  | 'tasks'
  | 'takeCensus'
  | 'ledger'
  | 'log'
  | 'now'
>;

const sharedMs = 30_000;
const slotsMs = 5_000;
/** The query for today's sums can be slow, so they are reused for this long. */
const earnedMs = 120_000;
const earnedWaitMs = 1_000;
const recentMs = 3 * 60 * 60_000;

const listedSchema = channelSchema
  .extend({
    recent: recentSchema.nullable().meta({
      description:
        'The outcomes of tasks from the last three hours, counted every half minute. Null if they were not counted.',
    }),
    slots: slotsSchema.nullable().meta({
      description: 'Counted every five seconds. Null if the channel does not limit concurrent tasks.',
    }),
    balances: balancesSchema.meta({
      description:
        'The remaining balance at the vendor, for each credential. Empty if the vendor does not report it. The list never waits for the vendor. It shows the last known balance, and requests a new one if the last is older than ten minutes.',
    }),
    today: todaySchema.nullable().meta({
      description:
        'Summed every two minutes. Null if no task has ended on the channel today or the sum has not been computed yet.',
    }),
  })
  .meta({ id: 'ListedChannel' });

export function listChannels(deps: Deps): Route {
  const { catalogue, channelSwitches, readHealth, now } = deps;
  const counted = createSharedRead(() => count(deps), { ms: sharedMs, now });
  const earned = createEarned(deps);
  const balancesOf = createVendorBalances(deps);
  const slots = createSharedRead(() => countSlots(deps), { ms: slotsMs, now });
  return adminRoute({
    operationId: 'listChannels',
    access: 'read',
    summary: 'List channels with their switches, limits, health and newest tasks',
    method: 'get',
    paths: ['/admin/v1/channels'],
    input: z.object({}),
    success: {
      description: 'All channels of the running configuration, without secrets.',
      schema: listSchema(listedSchema),
    },
    async handle() {
      const [recent, held, today, health] = await Promise.all([
        counted(),
        slots(),
        earned(),
        readHealth(),
        channelSwitches.refresh(),
      ]);
      const data = catalogue.current().channels.map((channel) => {
        const own = recent?.channels.find((counts) => counts.channel === channel.id);
        const row = today.get(channel.id);
        return {
          ...presentChannel(channel, channelSwitches, health),
          slots: presentSlots(held?.find((counts) => counts.channel === channel.id)),
          balances: balancesOf(channel.id).map(presentBalance),
          today: row === undefined ? null : presentToday(row),
          recent: recent === undefined || own === undefined ? null : presentRecent(own, recent.since),
        };
      });
      return jsonReply({ object: 'list', data });
    },
  });
}

/** Returns undefined if counting takes too long. The channels are then listed without counts. */
async function count({ catalogue, tasks, log, now }: Deps) {
  const since = now() - recentMs;
  const ids = catalogue.current().channels.map(({ id }) => id);
  try {
    return { since, channels: await tasks.countByChannel(ids, since) };
  } catch (err) {
    log.warn({ err }, 'the newest tasks of channels could not be counted');
    return undefined;
  }
}

type Earned = ReadonlyMap<string, MarginRow>;

/** Returns the previous sums if the query takes longer than a second. */
function createEarned(deps: Deps): () => Promise<Earned> {
  const { log, now } = deps;
  let last: { readonly day: string; readonly rows: Earned } | undefined;
  const read = async (): Promise<void> => {
    const day = utcDay(now());
    try {
      last = { day, rows: await readDay(deps, day) };
    } catch (err) {
      log.warn({ err }, 'today’s earnings of the channels could not be computed');
    }
  };
  const shared = createSharedRead(read, { ms: earnedMs, now, hangsAfterMs: Infinity });
  return async () => {
    await withTimeout(shared(), 'the ledger', earnedWaitMs).catch(() => undefined);
    return last?.day === utcDay(now()) ? last.rows : new Map();
  };
}

async function readDay({ ledger }: Deps, day: string): Promise<Earned> {
  const rows = new Map<string, MarginRow>();
  const asked = { from: day, before: utcDay(Date.parse(day) + dayMs), by: ['channel'] } as const;
  for await (const row of ledger.margin(asked)) rows.set(row.of.channel ?? '', row);
  return rows;
}

async function countSlots({ takeCensus, log }: Deps) {
  try {
    return (await takeCensus()).slots;
  } catch (err) {
    log.warn({ err }, 'the slots of channels could not be counted');
    return undefined;
  }
}

function presentSlots(counts: Census['slots'][number] | undefined): z.output<typeof slotsSchema> | null {
  return counts === undefined ? null : { in_use: counts.inUse, limit: counts.limit };
}
