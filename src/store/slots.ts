import { defined } from '../base/defined.ts';
import type { Collection, Db } from 'mongodb';
import { durable, ensureIndexes, expiring, openCollection, repeatOnDuplicate, unlessThere } from './mongo.ts';

/**
 * Slots limit how many tasks run at a credential at once, across all processes. `queue` identifies the credential:
 * `<channel>/<credential>`.
 */

export interface HeldSlot {
  readonly id: string;
  readonly queue: string;
  readonly task: string;
}

interface SlotDocument {
  /** `<queue>/<n>` */
  readonly _id: string;
  readonly queue: string;
  readonly n: number;
  readonly task: string;
  /** Undefined if the slot was taken by an older version that did not record the account. */
  readonly account?: string;
  /** Unix milliseconds. After that, the slot is free even if its holder died without returning it. */
  readonly until: number;
}

interface TicketDocument {
  /** `<task>@<queue>` */
  readonly _id: string;
  readonly task: string;
  readonly queue: string;
  readonly account: string;
  readonly model: string;
  readonly wasLost: boolean;
  /** Orders the tasks of one account and model. See `urgencyKey` in src/task/fair-order.ts. */
  readonly urgency: string;
  /** Sorts the queue by round and urgency, with lost tasks last. The account with the first ticket is served next. */
  readonly order: string;
  readonly round: number;
  /** The time at which the task checks again if nothing wakes it, in Unix milliseconds. */
  readonly looksAt: number;
  readonly expires: Date;
}

export type Ticket = Pick<
  TicketDocument,
  'task' | 'queue' | 'account' | 'model' | 'wasLost' | 'order' | 'round' | 'looksAt'
>;

export interface NewTicket extends Pick<
  TicketDocument,
  'task' | 'queue' | 'account' | 'model' | 'wasLost' | 'urgency' | 'looksAt'
> {
  readonly deadlineAt: number;
}

interface RoundDocument {
  readonly _id: string;
  readonly round: number;
  readonly expires: Date;
}

/** An account's call was rejected because it could not wait for a slot. Times are in Unix milliseconds. */
export interface SlotRefusal {
  readonly queue: string;
  readonly account: string;
  /** The time of the first rejection since the account was last served. */
  readonly since: number;
  readonly at: number;
}

interface RefusalDocument extends SlotRefusal {
  /** `<queue>|<account>` */
  readonly _id: string;
  readonly expires: Date;
}

const madeMin = 16;
const madeMax = 1_000;
const roundsKeptMs = 7 * 24 * 3600 * 1000;
const ticketsKeptMs = 3600 * 1000;
const roundDigits = 12;
const refusalsKeptMs = 3600 * 1000;
const refusalsMax = 1_000;

export type SlotStore = ReturnType<typeof createSlotStore>;

export function createSlotStore(db: Db, now: () => number) {
  const slots = openCollection<SlotDocument>(db, 'slots', durable);
  const tickets = openCollection<TicketDocument>(db, 'slot_tickets', durable);
  const rounds = openCollection<RoundDocument>(db, 'slot_rounds', durable);
  const refusals = openCollection<RefusalDocument>(db, 'slot_refusals', durable);
  return {
    async ensureIndexes(): Promise<void> {
      await Promise.all([
        ensureIndexes(slots, [
          { name: 'queue_n', key: { queue: 1, n: 1 } },
          { name: 'task', key: { task: 1 } },
        ]),
        ensureIndexes(tickets, [
          { name: 'queue_order', key: { queue: 1, order: 1 } },
          { name: 'queue_account_round', key: { queue: 1, account: 1, round: 1 } },
          {
            name: 'queue_account_urgency',
            key: { queue: 1, account: 1, wasLost: 1, model: 1, urgency: 1 },
          },
          { name: 'task', key: { task: 1 } },
          expiring,
        ]),
        ensureIndexes(rounds, [expiring]),
        ensureIndexes(refusals, [{ name: 'queue_at', key: { queue: 1, at: 1 } }, expiring]),
      ]);
    },
    ...slotOperations(slots, now),
    ...slotReads(slots, now),
    ...ticketOperations(tickets),
    leaveQueues: createLeaveQueues(tickets, rounds),
    ...roundOperations(rounds, now),
    ...refusalOperations(refusals),
  };
}

function slotOperations(slots: Collection<SlotDocument>, now: () => number) {
  /** The `<queue>/<limit>` pairs for which all documents exist. */
  const made = new Set<string>();

  async function reserveFree(queue: string, limit: number, lease: NewLease): Promise<string | undefined> {
    const slot = await slots.findOneAndUpdate(
      { queue, n: { $lt: limit }, until: { $lte: now() } },
      { $set: { task: lease.task, account: lease.account, until: lease.until } },
    );
    return slot?._id;
  }

  /** Slots above a lowered limit stay with their holders and count until they are returned. */
  async function isOverfull(queue: string, limit: number): Promise<boolean> {
    const held = { queue, until: { $gt: now() } };
    const above = await slots.countDocuments({ ...held, n: { $gte: limit } }, { limit: 1 });
    return above > 0 && (await slots.countDocuments(held)) >= limit;
  }

  async function countMade(queue: string): Promise<number> {
    const last = await slots.findOne({ queue }, { sort: { n: -1 }, projection: { n: 1 } });
    return last === null ? 0 : last.n + 1;
  }

  /**
   * Doubles the number of slots each time, so that a high limit does not create more documents than are used. Slots are
   * created in order, without gaps.
   */
  async function makeMore(queue: string, from: number, limit: number): Promise<void> {
    const length = Math.min(limit - from, Math.max(madeMin, Math.min(from, madeMax)));
    const numbers = Array.from({ length }, (_, place) => from + place);
    const free = numbers.map((n) => ({ _id: `${queue}/${n}`, queue, n, task: '', until: 0 }));
    await unlessThere(() => slots.insertMany(free));
  }

  return {
    /**
     * Takes a slot that is free or whose lease has expired, with one atomic update. Returns undefined if there is none.
     */
    async reserve(queue: string, limit: number, lease: NewLease): Promise<string | undefined> {
      if (await isOverfull(queue, limit)) return undefined;
      const whole = `${queue}/${limit}`;
      for (let seen = 0; ;) {
        const slot = await reserveFree(queue, limit, lease);
        if (slot !== undefined || made.has(whole)) return slot;
        const count = await countMade(queue);
        if (count >= limit) made.add(whole);
        // Create more slots only if no other process has done so since we looked for a free one.
        else if (count === seen) await makeMore(queue, count, limit);
        seen = count;
      }
    },

    async extend(id: string, { task, until }: Lease): Promise<boolean> {
      return (await slots.updateOne({ _id: id, task }, { $set: { until } })).matchedCount === 1;
    },

    async keep({ task, until }: Lease): Promise<void> {
      await slots.updateMany({ task }, { $max: { until } });
    },

    /**
     * If `until` is given, the slot is freed only if its lease still ends then, because the holder may have extended
     * it.
     */
    async free(id: string, task: string, until?: number): Promise<void> {
      await slots.updateOne({ _id: id, task, ...defined({ until }) }, { $set: { task: '', until: 0 } });
    },
  };
}

function slotReads(slots: Collection<SlotDocument>, now: () => number) {
  return {
    async heldBy(task: string): Promise<HeldSlot[]> {
      return (await slots.find({ task }).toArray()).map(toSlot);
    },

    /** Only a hint, because another task may take the slot first. */
    async hasFree(queue: string, limit: number): Promise<boolean> {
      return (await slots.countDocuments({ queue, until: { $gt: now() } })) < limit;
    },

    async holders(queue: string): Promise<(string | undefined)[]> {
      const held = slots.find({ queue, until: { $gt: now() } }, { projection: { account: 1 } });
      return (await held.toArray()).map(({ account }) => account);
    },

    async held(): Promise<HeldSlot[]> {
      return (await slots.find({ until: { $gt: now() } }).toArray()).map(toSlot);
    },
  };
}

export interface Lease {
  readonly task: string;
  readonly until: number;
}

export interface NewLease extends Lease {
  readonly account: string;
}

function toSlot({ _id: id, queue, task }: SlotDocument): HeldSlot {
  return { id, queue, task };
}

function ticketOperations(tickets: Collection<TicketDocument>) {
  return {
    async keepTicket(task: string, queue: string, looksAt: number): Promise<string | undefined> {
      const kept = await tickets.findOneAndUpdate({ _id: `${task}@${queue}` }, { $set: { looksAt } });
      return kept?.order;
    },

    async insertTicket(ticket: NewTicket, round: number): Promise<string> {
      const { task, queue, deadlineAt, ...more } = ticket;
      const last = more.wasLost ? '1' : '0';
      const order = `${last}-${round.toString().padStart(roundDigits, '0')}-${more.urgency}`;
      const expires = new Date(deadlineAt + ticketsKeptMs);
      const place = { task, queue, ...more, order, round, expires };
      await unlessThere(() => tickets.insertOne({ _id: `${task}@${queue}`, ...place }));
      return order;
    },

    async firstTicket(queue: string): Promise<Ticket | undefined> {
      return (await tickets.findOne({ queue }, { sort: { order: 1 } })) ?? undefined;
    },

    /**
     * Returns the models of all tasks that may be served with this ticket: the account's tasks with the same `wasLost`.
     */
    modelsInTurn({ queue, account, wasLost }: Ticket): Promise<string[]> {
      return tickets.distinct('model', { queue, account, wasLost });
    },

    /**
     * Returns the most urgent of the model's tickets. Any task of the account with the same `wasLost` may be served
     * with this ticket.
     */
    async mostUrgent({ queue, account, wasLost }: Ticket, model: string): Promise<Ticket | undefined> {
      const found = await tickets.findOne({ queue, account, wasLost, model }, { sort: { urgency: 1 } });
      return found ?? undefined;
    },

    takeOverTurn: (ticket: Ticket, left: Ticket) => takeOverTurn(tickets, ticket, left),

    /** For a task that is served. Other tasks leave with `leaveQueues`. */
    async removeTicket(task: string, queue: string): Promise<boolean> {
      return (await tickets.deleteOne({ _id: `${task}@${queue}` })).deletedCount === 1;
    },

    async countTickets(queue: string, max: number, before?: string): Promise<number> {
      const filter = before === undefined ? { queue } : { queue, order: { $lt: before } };
      return tickets.countDocuments(filter, { limit: max });
    },
  };
}

async function takeOverTurn(
  tickets: Collection<TicketDocument>,
  { task, queue, order }: Ticket,
  { order: taken, round }: Ticket,
): Promise<void> {
  await tickets.updateOne({ _id: `${task}@${queue}`, order }, { $set: { order: taken, round } });
}

/**
 * For tasks that leave without being served. Their account keeps its turns: the place goes to its last ticket, and its
 * next ticket follows the ones that it still has. Otherwise, an account whose tasks were cancelled would wait until
 * the others have had as many turns.
 */
function createLeaveQueues(tickets: Collection<TicketDocument>, rounds: Collection<RoundDocument>) {
  async function keepTurn(left: TicketDocument): Promise<void> {
    const { queue, account, wasLost, round } = left;
    const _id = roundId(queue, account);
    const counted = await rounds.findOne({ _id });
    const newest = { sort: { round: -1 } } as const;
    const last = await tickets.findOne({ queue, account, wasLost, round: { $gt: round } }, newest);
    if (last !== null) await takeOverTurn(tickets, last, left);
    const { round: taken = 0 } = (await tickets.findOne({ queue, account }, newest)) ?? {};
    // A count that another ticket has raised meanwhile stays.
    if (counted !== null && taken < counted.round)
      await rounds.updateOne({ _id, round: counted.round }, { $set: { round: taken } });
  }

  async function leave(_id: string): Promise<void> {
    const left = await tickets.findOneAndDelete({ _id });
    if (left !== null) await keepTurn(left);
  }

  return async (task: string, queue?: string): Promise<void> => {
    if (queue !== undefined) return leave(`${task}@${queue}`);
    const all = await tickets.find({ task }, { projection: { _id: 1 } }).toArray();
    for (const { _id } of all) await leave(_id);
  };
}

function roundId(queue: string, account: string): string {
  return `${queue}|${account}`;
}

const upserted = { upsert: true, returnDocument: 'after' } as const;

function roundOperations(rounds: Collection<RoundDocument>, now: () => number) {
  const expires = (): Date => new Date(now() + roundsKeptMs);

  async function nextRound(_id: string): Promise<number> {
    const $inc = { round: 1 };
    const counted = await repeatOnDuplicate(() =>
      rounds.findOneAndUpdate({ _id }, { $inc, $set: { expires: expires() } }, upserted),
    );
    return counted?.round ?? 1;
  }

  return {
    /**
     * Start-time fair queueing: an account's tickets get consecutive rounds, starting after the round that is being
     * served. If one account sends a burst and another a single task, both therefore start in the same round.
     */
    async takeRound(queue: string, account: string): Promise<number> {
      const id = roundId(queue, account);
      const served = (await rounds.findOne({ _id: queue }))?.round ?? 0;
      const round = await nextRound(id);
      if (round > served) return round;
      // An account that was not in the queue enters at the current round, so that it gains nothing from its absence.
      const entered = await rounds.updateOne(
        { _id: id, round: { $lte: served } },
        { $set: { round: served + 1 } },
      );
      return entered.modifiedCount === 1 ? served + 1 : nextRound(id);
    },

    async noteServed(queue: string, round: number): Promise<void> {
      const served = { $max: { round }, $set: { expires: expires() } };
      await repeatOnDuplicate(() => rounds.updateOne({ _id: queue }, served, { upsert: true }));
    },
  };
}

function refusalOperations(refusals: Collection<RefusalDocument>) {
  return {
    refusals(queue: string, after: number): Promise<SlotRefusal[]> {
      return refusals
        .find({ queue, at: { $gt: after } })
        .limit(refusalsMax)
        .toArray();
    },

    async noteRefusal(refusal: SlotRefusal): Promise<void> {
      const { queue, account, since, at } = refusal;
      const expires = new Date(at + refusalsKeptMs);
      const update = { $set: { queue, account, since, at, expires } };
      await repeatOnDuplicate(() =>
        refusals.updateOne({ _id: `${queue}|${account}` }, update, { upsert: true }),
      );
    },

    async forgetRefusal(queue: string, account: string): Promise<void> {
      await refusals.deleteOne({ _id: `${queue}|${account}` });
    },
  };
}
