import { racePoint } from '../base/race-point.ts';
import type { RouteCandidate } from '../task/candidates.ts';
import type { HeldSlot } from '../store/slots.ts';
import { createRefusedAccounts } from './refused-accounts.ts';
import { createSlotQueue, queueOf, type SlotQueueDeps } from './slot-queue.ts';

export interface SlotRequest {
  readonly task: string;
  readonly account: string;
  readonly candidate: RouteCandidate;
  readonly model: string;
  readonly others: readonly RouteCandidate[];
  /** If false, the task cannot be in any queue yet. */
  readonly hasWaited: boolean;
  readonly deadlineAt: number;
  readonly createdAt: number;
  readonly wasLost: boolean;
}

export interface UrgentCall extends Pick<SlotRequest, 'task' | 'account' | 'candidate'> {
  readonly leaseMs: number;
}

/**
 * - `elsewhere`: another candidate has a free slot or has granted one to this task.
 * - `wait`: the task is now queued for every candidate. It is woken when its turn comes, and should otherwise ask again
 * after `ms`. `ahead` is the number of tasks before it in this queue.
 */
export type SlotAnswer =
  | { readonly kind: 'taken' }
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'wait'; readonly ms: number; readonly ahead: number };

/**
 * Enforces `limits.concurrent_tasks` of every credential across all processes. Does no I/O for credentials without a
 * limit.
 */
export interface SlotKeeper {
  isLimited(candidate: RouteCandidate): boolean;
  /** True if a candidate has granted the task a slot, or has a free one for which no other task is waiting. */
  anyHasRoom(
    wanted: Pick<SlotRequest, 'task' | 'model'>,
    candidates: readonly RouteCandidate[],
  ): Promise<boolean>;
  take(request: SlotRequest): Promise<SlotAnswer>;
  /**
   * Takes a slot for a call that cannot wait, if one is free and no other account comes first. Return the slot with
   * `release`.
   */
  tryTake(call: UrgentCall): Promise<boolean>;
  keepUntil(task: string, deadlineAt: number): Promise<void>;
  leaveQueues(task: string): Promise<void>;
  /**
   * Frees all slots and queue positions of the task, and admits the next tasks. With a candidate, frees only the task's
   * slot there, even if the candidate is no longer configured. Idempotent.
   */
  release(task: string, candidate?: RouteCandidate): Promise<void>;
  holders(): Promise<readonly string[]>;
  queues(): readonly RouteCandidate[];
  /** Admits waiting tasks, in case a task has died or a limit was raised. */
  serve(candidate: RouteCandidate): Promise<void>;
}

export interface SlotKeeperDeps extends SlotQueueDeps {
  readonly limited: () => readonly RouteCandidate[];
}

const leaseGraceMs = 10 * 60_000;
export function createSlotKeeper(deps: SlotKeeperDeps): SlotKeeper {
  const { store } = deps;
  const isLimited = (candidate: RouteCandidate): boolean => deps.limitOf(candidate) !== undefined;
  const queues = createSlotQueue(deps);

  /**
   * Returns true if the task already holds a slot, which was granted while the task waited or taken by an activity that
   * then died. Extends its lease and gives back the task's other slots.
   */
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

  async function takeFree(held: readonly HeldSlot[], request: SlotRequest, limit: number): Promise<boolean> {
    const queue = queueOf(request.candidate);
    if ((await store.firstTicket(queue)) !== undefined) return false;
    const { task, account } = request;
    const lease = { task, account, until: request.deadlineAt + leaseGraceMs };
    if ((await store.reserve(queue, limit, lease)) === undefined) return false;
    if (request.hasWaited || held.length > 0) await leaveOthers(request.task, held);
    return true;
  }

  async function leaveOthers(task: string, spare: readonly HeldSlot[]): Promise<void> {
    await store.leaveQueues(task);
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
      // Check this first, because a slot granted by another candidate may no longer be usable.
      if (await takeFree(held, request, limit)) return { kind: 'taken' };
      if (await anyHasRoom(request, request.others, held)) return { kind: 'elsewhere' };
      const ms = await queues.planLook(queueOf(request.candidate));
      await racePoint('slots.queue', request.task);
      const ahead = await queues.enter(request, ms);
      // A slot may have been freed between the check and the creation of the ticket.
      const served = await queues.serve(queueOf(request.candidate), request.task);
      if (served && (await claim(await store.heldBy(request.task), request))) return { kind: 'taken' };
      return { kind: 'wait', ms, ahead };
    },
    tryTake: createTryTake(deps),
    async keepUntil(task, deadlineAt) {
      if (deps.limited().length > 0) await store.keep({ task, until: deadlineAt + leaseGraceMs });
    },
    async leaveQueues(task) {
      if (deps.limited().length > 0) await store.leaveQueues(task);
    },
    async release(task, candidate) {
      if (candidate === undefined && deps.limited().length === 0) return;
      const only = candidate && queueOf(candidate);
      const [all] = await Promise.all([store.heldBy(task), store.leaveQueues(task, only)]);
      const held = only === undefined ? all : all.filter(({ queue }) => queue === only);
      await Promise.all(held.map(({ id }) => store.free(id, task)));
      for (const { queue } of held) await queues.serve(queue);
    },
    async holders() {
      return [...new Set((await store.held()).map(({ task }) => task))];
    },
    queues: () => deps.limited(),
    serve: async (candidate) => void (await queues.serve(queueOf(candidate))),
  };
}

function createTryTake({ store, limitOf, now }: SlotKeeperDeps): SlotKeeper['tryTake'] {
  const refusedAccounts = createRefusedAccounts(store, now);
  return async ({ task, account, candidate, leaseMs }) => {
    const limit = limitOf(candidate);
    if (limit === undefined) return true;
    const queue = queueOf(candidate);
    const call = { queue, limit, account };
    const [ticket, refused] = await Promise.all([store.firstTicket(queue), refusedAccounts.list(queue)]);
    // The next slot belongs to a waiting task, so treat the credential as full.
    const verdict = ticket === undefined ? await refusedAccounts.judge(call, refused) : 'full';
    const lease = { task, account, until: now() + leaseMs };
    const isTaken = verdict === 'allowed' && (await store.reserve(queue, limit, lease)) !== undefined;
    await refusedAccounts.note(call, refused, isTaken ? 'taken' : verdict);
    return isTaken;
  };
}
