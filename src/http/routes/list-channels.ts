import { z } from 'zod';
import { dayMs, utcDay } from '../../base/times.ts';
import type { MarginRow } from '../../money/margin.ts';
import type { Census } from '../../task/census.ts';
import type { RouteDeps } from '../deps.ts';
import {
  channelSchema,
  presentChannel,
  presentRecent,
  presentToday,
  recentSchema,
  slotsSchema,
  todaySchema,
} from '../presenters/channel.ts';
import { listSchema } from '../presenters/list.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';
import { createSharedRead } from '../../base/shared-read.ts';
import { withTimeout } from '../with-timeout.ts';

type Deps = Pick<
  RouteDeps,
  'catalogue' | 'channelSwitches' | 'readHealth' | 'tasks' | 'takeCensus' | 'ledger' | 'log' | 'now'
>;

/** However many operators look: the tasks are counted once in this time. */
const sharedMs = 30_000;
const slotsMs = 5_000;
/** The sums of a day may take as long as a query may. */
const earnedMs = 120_000;
const earnedWaitMs = 1_000;
const recentMs = 3 * 60 * 60_000;

export function listChannels(deps: Deps): Route {
  const { catalogue, channelSwitches, readHealth, now } = deps;
  const counted = createSharedRead(() => count(deps), { ms: sharedMs, now });
  const earned = createEarned(deps);
  const slots = createSharedRead(() => countSlots(deps), { ms: slotsMs, now });
  return adminRoute({
    operationId: 'listChannels',
    access: 'read',
    summary: 'List channels with their switches, limits, health and newest tasks',
    method: 'get',
    paths: ['/admin/v1/channels'],
    input: z.object({}),
    success: {
      description: 'All of the running configuration, without secrets.',
      schema: listSchema(
        channelSchema
          .extend({
            recent: recentSchema.nullable().meta({
              description:
                'What became of the tasks of the last three hours, counted once in half a minute; null: not counted.',
            }),
            slots: slotsSchema.nullable().meta({
              description: 'Counted once in five seconds; null: it has no limit of concurrent tasks.',
            }),
            today: todaySchema.nullable().meta({
              description:
                'Added up once in two minutes; null: nothing ended there today, or it is not added up yet.',
            }),
          })
          .meta({ id: 'ListedChannel' }),
      ),
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
          today: row === undefined ? null : presentToday(row),
          recent: recent === undefined || own === undefined ? null : presentRecent(own, recent.since),
        };
      });
      return jsonReply({ object: 'list', data });
    },
  });
}

/** Undefined: it takes too long, and channels are listed without it. */
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

/** Returns today's sums of each channel. If the query takes longer than a second, returns those of the query before. */
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
