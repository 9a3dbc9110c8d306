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

type Deps = Pick<
  RouteDeps,
  'catalogue' | 'channelSwitches' | 'readHealth' | 'tasks' | 'takeCensus' | 'ledger' | 'log' | 'now'
>;

/** However many operators look: the tasks are counted once in this time. */
const sharedMs = 30_000;
const slotsMs = 5_000;
const recentMs = 3 * 60 * 60_000;

export function listChannels(deps: Deps): Route {
  const { catalogue, channelSwitches, readHealth, now } = deps;
  const counted = createSharedRead(() => count(deps), { ms: sharedMs, now });
  const earned = createSharedRead(() => readToday(deps), { ms: sharedMs, now });
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
                'Added up once in half a minute; null: nothing ended there today, or it was not added up.',
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

/** Empty: it takes too long, and channels are listed without it. */
async function readToday({ ledger, log, now }: Deps): Promise<ReadonlyMap<string, MarginRow>> {
  const rows = new Map<string, MarginRow>();
  try {
    const asked = { from: utcDay(now()), before: utcDay(now() + dayMs), by: ['channel'] } as const;
    for await (const row of ledger.margin(asked)) rows.set(row.of.channel ?? '', row);
  } catch (err) {
    log.warn({ err }, 'what channels earned today could not be added up');
  }
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
