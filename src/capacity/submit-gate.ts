import type { RouteCandidate } from '../task/candidates.ts';
import { sameCandidate } from '../task/state.ts';
import type { Circuits } from './circuits.ts';
import type { SlotKeeper } from './slot-keeper.ts';
import { throughCircuits } from './through-circuits.ts';
import type { CircuitRefusal, Passed, Send } from './through-circuits.ts';

/** A task that is ready to be submitted. */
export interface SubmitRequest {
  readonly task: string;
  readonly account: string;
  readonly model: string;
  readonly candidate: RouteCandidate;
  /** The plan's usable candidates. */
  readonly candidates: readonly RouteCandidate[];
  /** Whether the task has waited before and may therefore be queued. */
  readonly hasWaited: boolean;
  readonly deadlineAt: number;
  readonly createdAt: number;
  /** Whether one of the task's submissions was lost. Such tasks go last. */
  readonly wasLost: boolean;
  /** The maximum duration of the submission, in milliseconds. */
  readonly submitMs: number;
}

/**
 * The reason why a task is not submitted now. `full`: no candidate has room, and the task keeps its place in the queue
 * for as long as necessary. `elsewhere`: the next candidate has room. `circuit_open`: handled as if the upstream
 * refused connections.
 */
export type SubmitRefusal =
  | { readonly kind: 'full'; readonly ms: number; readonly ahead: number }
  | { readonly kind: 'elsewhere' }
  | ({ readonly kind: 'circuit_open' } & CircuitRefusal);

/** Guards submissions with the credential's concurrency limit and then its circuit. */
export interface SubmitGate {
  /** Sends the task if it may be sent. Reads only memory if there is no limit and no open circuit. */
  pass<Sent>(request: SubmitRequest, send: Send<Sent>): Promise<Passed<SubmitRefusal, Sent>>;
  /** Whether one of these candidates, which were full earlier, would accept the task now. */
  anyHasRoom: SlotKeeper['anyHasRoom'];
  /** Frees the slot of this candidate, which has no job for the task. */
  leave(task: string, candidate: RouteCandidate): Promise<void>;
}

export function createSubmitGate(deps: {
  readonly circuits: Pick<Circuits, 'enter' | 'report' | 'leave'>;
  readonly slots: SlotKeeper;
}): SubmitGate {
  const { circuits, slots } = deps;
  return {
    async pass(request, send) {
      const { candidate, candidates, submitMs, ...facts } = request;
      if (slots.isLimited(candidate)) {
        const others = candidates.filter((other) => !sameCandidate(other, candidate));
        const slot = await slots.take({ ...facts, candidate, others });
        if (slot.kind === 'wait') return { refused: { kind: 'full', ms: slot.ms, ahead: slot.ahead } };
        if (slot.kind === 'elsewhere') return { refused: slot };
      }
      const { task, account, model } = request;
      const entering = { request: { ...candidate, task, account, model }, submitMs };
      const passed = await throughCircuits(circuits, entering, async (report) => {
        // Leave the queues so that no turn is wasted on this task.
        if (facts.hasWaited && !slots.isLimited(candidate)) await slots.leaveQueues(task);
        return send(report);
      });
      return 'sent' in passed ? passed : { refused: { kind: 'circuit_open', ...passed.refused } };
    },
    anyHasRoom: (wanted, candidates) => slots.anyHasRoom(wanted, candidates),
    async leave(task, candidate) {
      if (slots.isLimited(candidate)) await slots.release(task, candidate);
    },
  };
}
