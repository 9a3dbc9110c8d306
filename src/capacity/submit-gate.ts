import type { RouteCandidate } from '../task/candidates.ts';
import { sameCandidate } from '../task/state.ts';
import type { Circuits } from './circuits.ts';
import type { SlotKeeper } from './slot-keeper.ts';
import { throughCircuits, type CircuitRefusal, type Passed, type Send } from './through-circuits.ts';

export interface SubmitRequest {
  readonly task: string;
  readonly account: string;
  readonly model: string;
  readonly candidate: RouteCandidate;
  readonly candidates: readonly RouteCandidate[];
  readonly hasWaited: boolean;
  readonly deadlineAt: number;
  readonly createdAt: number;
  readonly wasLost: boolean;
  readonly submitMs: number;
}

/**
 * - `full`: no candidate has room, so the task stays queued for as long as necessary.
 * - `elsewhere`: the next candidate has room.
 * - `circuit_open`: treated as if the upstream had refused the connection.
 */
export type SubmitRefusal =
  | { readonly kind: 'full'; readonly ms: number; readonly ahead: number }
  | { readonly kind: 'elsewhere' }
  | ({ readonly kind: 'circuit_open' } & CircuitRefusal);

export interface SubmitGate {
  /**
   * Sends the request if the task gets a slot and no circuit is open. Does no I/O if there is no limit and no open
   * circuit.
   */
  pass<Sent>(request: SubmitRequest, send: Send<Sent>): Promise<Passed<SubmitRefusal, Sent>>;
  anyHasRoom: SlotKeeper['anyHasRoom'];
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
        // Leave the queues, because a queue position would reserve a slot that this task no longer needs.
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
