import { LRUCache } from 'lru-cache';
import type { RouteCandidate } from '../task/candidates.ts';
import type { SlotStore, Ticket } from '../store/slots.ts';
import { modelInTurn, urgencyKey } from '../task/fair-order.ts';

/** The tasks that wait for a slot of a credential, in fair order. */
export interface SlotQueue {
  /** Queues the task at every credential that would do; it checks again automatically after the given time. */
  enter(waiting: Waiting, looksInMs: number): Promise<void>;
  /** Admits waiting tasks while there is room. True: this call admitted the caller, so it is not woken. */
  serve(queue: string, caller?: string): Promise<boolean>;
  /** Returns when a waiting task checks again if nothing wakes it, and about how many tasks are ahead of it. */
  planLook(queue: string): Promise<{ readonly ms: number; readonly ahead: number }>;
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
  /** `limits.concurrent_tasks`; undefined: no limit. */
  readonly limitOf: (candidate: RouteCandidate) => number | undefined;
  /** Whether a candidate would accept a request at all: its circuit is not open, as far as this process knows. */
  readonly isUsable: (candidate: RouteCandidate, model?: string) => boolean;
  /** Ends the back-off of the task's submission. Never throws. */
  readonly wake: (task: string) => Promise<void>;
  readonly now: () => number;
  readonly random: () => number;
}

/** How long a grant is reserved for its task. A task that is not woken queues up again when it checks. */
const grantLeaseMs = 120_000;
/** A task that checks again this soon is not woken: a wake-up would interrupt that check. */
const looksSoonMs = 4_000;
const looksMinMs = 30_000;
const looksMaxMs = 90_000;
/** However long a queue is, about ten of its tasks check in a second. */
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
      // Not where the circuit is open: a turn there would only send the task back here.
      const usable = others.filter((other) => limitOf(other) !== undefined && isUsable(other, model));
      for (const queue of [candidate, ...usable].map(queueOf)) {
        if (await store.keepTicket(task, queue, looksAt)) continue;
        const round = await store.takeRound(queue, account);
        const place = { task, queue, account, model, wasLost, urgency, looksAt, deadlineAt };
        await store.insertTicket(place, round);
      }
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
        const lease = { task: first.task, until: now() + grantLeaseMs };
        const slot = await store.reserve(queue, limit, lease);
        if (slot === undefined) return served;
        if (!(await store.removeTicket(first.task, queue))) {
          // Another process admitted it, or it left.
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

/** Picks the account's next task, with its models in turn. Each process remembers which models it served. */
function createModelTurns({ store }: Pick<SlotQueueDeps, 'store'>) {
  const served = new LRUCache<string, number>({ max: modelsMax });
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
    const ms = Math.round(looksMinMs + (longest - looksMinMs) * random());
    return { ms, ahead: last.tickets };
  };
}

export function queueOf({ channel, credential }: RouteCandidate): string {
  return `${channel}/${credential}`;
}

/** Neither id may hold a slash (src/config/gateway-file.ts). */
function candidateOf(queue: string): RouteCandidate {
  const [channel = '', credential = ''] = queue.split('/');
  return { channel, credential };
}
