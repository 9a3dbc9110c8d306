import { racePoint } from '../base/race-point.ts';
import type { RouteCandidate } from '../task/candidates.ts';
import type { HeldSlot } from '../store/slots.ts';
import { createSlotQueue, queueOf } from './slot-queue.ts';
import type { SlotQueueDeps } from './slot-queue.ts';

/** A task's request for a slot of a credential. */
export interface SlotRequest {
  readonly task: string;
  /** Accounts take turns. */
  readonly account: string;
  readonly candidate: RouteCandidate;
  readonly model: string;
  /** The other credentials that would do. */
  readonly others: readonly RouteCandidate[];
  /** It may have a place in a queue. */
  readonly hasWaited: boolean;
  /** Unix milliseconds; the lease ends some minutes later. */
  readonly deadlineAt: number;
  readonly createdAt: number;
  /** Whether a submission of the task was lost. Such a task goes last. */
  readonly wasLost: boolean;
}

/**
 * `elsewhere`: another candidate has room, or a slot for this task. `wait`: none has; the task has a place in each
 * queue, is woken when it is its turn, and checks again automatically after `ms`. `ahead`: tasks that waited there before.
 */
export type SlotAnswer =
  | { readonly kind: 'taken' }
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'wait'; readonly ms: number; readonly ahead: number };

/** Keeps `limits.concurrent_tasks` of every credential over all processes; costs nothing where there is no limit. */
export interface SlotKeeper {
  isLimited(candidate: RouteCandidate): boolean;
  /**
   * Whether one of them has a slot for the task, granted or free with no other task before it, and accepts requests as
   * far as this process knows.
   */
  anyHasRoom(
    wanted: Pick<SlotRequest, 'task' | 'model'>,
    candidates: readonly RouteCandidate[],
  ): Promise<boolean>;
  take(request: SlotRequest): Promise<SlotAnswer>;
  /** For calls that cannot wait. Give it back with `release`. */
  tryTake(task: string, candidate: RouteCandidate, leaseMs: number): Promise<boolean>;
  /** The task's deadline was moved: what it holds is its own for as long. Repeatable. */
  keepUntil(task: string, deadlineAt: number): Promise<void>;
  /** The task waits before no credential any more. */
  leaveQueues(task: string): Promise<void>;
  /**
   * Gives everything back that the task holds or waits for, and lets the next ones in; of one candidate, what it has
   * there, although no configuration names the candidate any more. Repeatable.
   */
  release(task: string, candidate?: RouteCandidate): Promise<void>;
  /** Tasks that hold a slot. */
  holders(): Promise<readonly string[]>;
  /** Admits waiting tasks wherever there is room: for slots whose holder died, and limits that were raised. */
  serveAll(): Promise<void>;
}

export interface SlotKeeperDeps extends SlotQueueDeps {
  /** Every credential that has a limit. */
  readonly limited: () => readonly RouteCandidate[];
}

/** By then a task whose deadline has passed has had its final poll and is finished. */
const leaseGraceMs = 10 * 60_000;
export function createSlotKeeper(deps: SlotKeeperDeps): SlotKeeper {
  const { store, now } = deps;
  const isLimited = (candidate: RouteCandidate): boolean => deps.limitOf(candidate) !== undefined;
  const queues = createSlotQueue(deps);

  /** What the task holds already: granted while it waited, or taken by a run that died. */
  async function claim(held: readonly HeldSlot[], request: SlotRequest): Promise<boolean> {
    const queue = queueOf(request.candidate);
    const mine = held.find((slot) => slot.queue === queue);
    if (mine === undefined) return false;
    const until = request.deadlineAt + leaseGraceMs;
    if (!(await store.extend(mine.id, { task: request.task, until }))) return false;
    const spare = held.filter((slot) => slot !== mine);
    await leaveOthers(request.task, spare);
    return true;
  }

  /** A free slot, unless others wait for it: then it is theirs. */
  async function takeFree(held: readonly HeldSlot[], request: SlotRequest, limit: number): Promise<boolean> {
    const queue = queueOf(request.candidate);
    if ((await store.firstTicket(queue)) !== undefined) return false;
    const lease = { task: request.task, until: request.deadlineAt + leaseGraceMs };
    if ((await store.reserve(queue, limit, lease)) === undefined) return false;
    if (request.hasWaited || held.length > 0) await leaveOthers(request.task, held);
    return true;
  }

  /** The task is let in: it waits nowhere else, and needs nothing that it was granted there. */
  async function leaveOthers(task: string, spare: readonly HeldSlot[]): Promise<void> {
    await store.removeTickets(task);
    await Promise.all(spare.map(({ id }) => store.free(id, task)));
    await Promise.all(spare.map(({ queue }) => queues.serve(queue)));
  }

  async function hasRoom(
    candidate: RouteCandidate,
    task: string,
    held: readonly HeldSlot[],
  ): Promise<boolean> {
    const limit = deps.limitOf(candidate);
    if (limit === undefined) return true;
    const queue = queueOf(candidate);
    // It may have waited there before it came to where it is.
    if (held.some((slot) => slot.queue === queue)) return true;
    if (!(await store.hasFree(queue, limit))) return false;
    const first = await store.firstTicket(queue);
    return first === undefined || first.task === task;
  }

  async function anyHasRoom(
    { task, model }: Pick<SlotRequest, 'task' | 'model'>,
    candidates: readonly RouteCandidate[],
    held: readonly HeldSlot[],
  ): Promise<boolean> {
    for (const candidate of candidates)
      if (deps.isUsable(candidate, model) && (await hasRoom(candidate, task, held))) return true;
    return false;
  }

  return {
    isLimited,
    async anyHasRoom(wanted, candidates) {
      return candidates.length > 0 && anyHasRoom(wanted, candidates, await store.heldBy(wanted.task));
    },
    async take(request) {
      const limit = deps.limitOf(request.candidate);
      if (limit === undefined) return { kind: 'taken' };
      const held = await store.heldBy(request.task);
      if (await claim(held, request)) return { kind: 'taken' };
      // Before it is sent elsewhere: what it was granted there may be of no use to it any more.
      if (await takeFree(held, request, limit)) return { kind: 'taken' };
      if (await anyHasRoom(request, request.others, held)) return { kind: 'elsewhere' };
      const { ms, ahead } = await queues.planLook(queueOf(request.candidate));
      await racePoint('slots.queue', request.task);
      await queues.enter(request, ms);
      // Between our look and our ticket a slot may have become free, and nobody else might notice.
      const served = await queues.serve(queueOf(request.candidate), request.task);
      if (served && (await claim(await store.heldBy(request.task), request))) return { kind: 'taken' };
      return { kind: 'wait', ms, ahead };
    },
    async tryTake(task, candidate, leaseMs) {
      const limit = deps.limitOf(candidate);
      if (limit === undefined) return true;
      const queue = queueOf(candidate);
      if ((await store.firstTicket(queue)) !== undefined) return false;
      return (await store.reserve(queue, limit, { task, until: now() + leaseMs })) !== undefined;
    },
    async keepUntil(task, deadlineAt) {
      if (deps.limited().length > 0) await store.keep({ task, until: deadlineAt + leaseGraceMs });
    },
    async leaveQueues(task) {
      if (deps.limited().length > 0) await store.removeTickets(task);
    },
    async release(task, candidate) {
      if (candidate === undefined && deps.limited().length === 0) return;
      const only = candidate && queueOf(candidate);
      const [all] = await Promise.all([
        store.heldBy(task),
        only === undefined ? store.removeTickets(task) : store.removeTicket(task, only),
      ]);
      const held = only === undefined ? all : all.filter(({ queue }) => queue === only);
      await Promise.all(held.map(({ id }) => store.free(id, task)));
      for (const { queue } of held) await queues.serve(queue);
    },
    async holders() {
      return [...new Set((await store.held()).map(({ task }) => task))];
    },
    async serveAll() {
      for (const candidate of deps.limited()) await queues.serve(queueOf(candidate));
    },
  };
}
