import { createRecent } from '../base/recent.ts';
import type { RouteCandidate } from '../task/candidates.ts';
import type { SlotStore, Ticket } from '../store/slots.ts';
import { modelInTurn, urgencyKey } from '../task/fair-order.ts';
import { aheadMax } from '../task/wait.ts';

export interface SlotQueue {
  /**
   * Queues the task for every credential that could serve it. The task must ask again after `looksInMs`. Returns how
   * many tasks are ahead of it in the first queue, at most `aheadMax`.
   */
  enter(waiting: Waiting, looksInMs: number): Promise<number>;
  serve(queue: string, caller?: string): Promise<boolean>;
  planLook(queue: string): Promise<number>;
}

export interface Waiting {
  readonly task: string;
  readonly account: string;
  readonly model: string;
  readonly candidate: RouteCandidate;
  readonly others: readonly RouteCandidate[];
  readonly deadlineAt: number;
  readonly createdAt: number;
  readonly wasLost: boolean;
}

export interface SlotQueueDeps {
  readonly store: SlotStore;
  readonly limitOf: (candidate: RouteCandidate) => number | undefined;
  readonly isUsable: (candidate: RouteCandidate, model?: string) => boolean;
  readonly wake: (task: string) => Promise<void>;
  readonly now: () => number;
  readonly random: () => number;
}

/** A granted slot is reserved for this long. A task that misses its wake-up is queued again the next time it asks. */
const grantLeaseMs = 120_000;
/** A task that asks again within this time is not woken, because waking would interrupt it. */
const looksSoonMs = 4_000;
const looksMinMs = 30_000;
const looksMaxMs = 90_000;
/** Roughly this many tasks per queue ask again each second, regardless of the queue's length. */
const looksPerSecond = 10;
const looksInLongQueueMaxMs = 30 * 60_000;
const countMax = 20_000;
const countEveryMs = 10_000;
const modelsMax = 10_000;

export function createSlotQueue(deps: SlotQueueDeps): SlotQueue {
  const { store, now, limitOf, isUsable } = deps;
  const { inTurn, noteModel } = createModelTurns(deps);
  return {
    planLook: createLookPlan(deps),

    async enter(waiting, looksInMs) {
      const { task, account, model, candidate, others, deadlineAt, wasLost } = waiting;
      const urgency = urgencyKey({ ...waiting, id: task });
      const looksAt = now() + looksInMs;
      // Skip candidates with an open circuit, which would only send the task back here.
      const usable = others.filter((other) => limitOf(other) !== undefined && isUsable(other, model));
      const join = async (queue: string): Promise<string> => {
        const kept = await store.keepTicket(task, queue, looksAt);
        if (kept !== undefined) return kept;
        const round = await store.takeRound(queue, account);
        const place = { task, queue, account, model, wasLost, urgency, looksAt, deadlineAt };
        return store.insertTicket(place, round);
      };
      const first = queueOf(candidate);
      const order = await join(first);
      for (const other of usable) await join(queueOf(other));
      return store.countTickets(first, aheadMax, order);
    },

    async serve(queue, caller) {
      const candidate = candidateOf(queue);
      const limit = limitOf(candidate);
      if (limit === undefined || !isUsable(candidate)) return false;
      let served = false;
      for (;;) {
        const turn = await store.firstTicket(queue);
        if (turn === undefined) return served;
        const first = (await inTurn(turn)) ?? turn;
        const lease = { task: first.task, account: first.account, until: now() + grantLeaseMs };
        const slot = await store.reserve(queue, limit, lease);
        if (slot === undefined) return served;
        if (!(await store.removeTicket(first.task, queue))) {
          await store.free(slot, first.task, lease.until);
          continue;
        }
        served ||= first.task === caller;
        noteModel(first);
        if (first.order !== turn.order) await store.takeOverTurn(turn, first);
        await store.noteServed(queue, turn.round);
        if (first.task !== caller && first.looksAt > now() + looksSoonMs) void deps.wake(first.task);
      }
    },
  };
}

/** Lets the models of an account take turns. Each process keeps its own record of the models it has served. */
function createModelTurns({ store }: Pick<SlotQueueDeps, 'store'>) {
  const served = createRecent<number>(modelsMax);
  let count = 0;
  const keyOf = ({ queue, account }: Ticket, model: string): string => `${queue}|${account}|${model}`;
  return {
    inTurn: async (turn: Ticket): Promise<Ticket | undefined> => {
      const models = await store.modelsInTurn(turn);
      const model = modelInTurn(models, (one) => served.get(keyOf(turn, one)) ?? 0);
      return model === undefined ? undefined : store.mostUrgent(turn, model);
    },
    noteModel: (ticket: Ticket): void => {
      count += 1;
      served.set(keyOf(ticket, ticket.model), count);
    },
  };
}

function createLookPlan({ store, now, random }: SlotQueueDeps): SlotQueue['planLook'] {
  const counted = new Map<string, { readonly tickets: number; readonly at: number }>();
  return async (queue) => {
    let last = counted.get(queue);
    if (last === undefined || now() - last.at > countEveryMs) {
      last = { tickets: await store.countTickets(queue, countMax), at: now() };
      counted.set(queue, last);
    }
    const spreadMs = (last.tickets / looksPerSecond) * 1000;
    const longest = Math.min(Math.max(looksMaxMs, spreadMs), looksInLongQueueMaxMs);
    return Math.round(looksMinMs + (longest - looksMinMs) * random());
  };
}

export function queueOf({ channel, credential }: RouteCandidate): string {
  return `${channel}/${credential}`;
}

/**
 * Splitting at the slash is safe, because neither the channel id nor the credential's name can contain one
 * (src/config/gateway-file.ts).
 */
function candidateOf(queue: string): RouteCandidate {
  const [channel = '', credential = ''] = queue.split('/');
  return { channel, credential };
}
