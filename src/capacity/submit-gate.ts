import type { RouteCandidate } from '../task/candidates.ts';
import { sameCandidate } from '../task/state.ts';
import type { CircuitDecision, CircuitRequest, Circuits, UpstreamFailure } from './circuits.ts';
import type { SlotKeeper } from './slot-keeper.ts';

/** A task that wants to be submitted. */
export interface SubmitRequest {
  readonly task: string;
  readonly account: string;
  readonly model: string;
  readonly candidate: RouteCandidate;
  /** Of its plan, those that may be asked. */
  readonly candidates: readonly RouteCandidate[];
  /** It may have a place in a queue. */
  readonly hasWaited: boolean;
  readonly deadlineAt: number;
  readonly createdAt: number;
  /** Whether a submission of the task was lost. Such a task goes last. */
  readonly wasLost: boolean;
  /** Longest that the submission itself may take. */
  readonly submitMs: number;
}

/**
 * Why a task is not submitted now. `full`: it keeps its place here however long it takes. `elsewhere`: the next
 * candidate has room. `circuit_open`: handled like an upstream that refuses connections.
 */
export type SubmitRefusal =
  | { readonly kind: 'full'; readonly ms: number; readonly ahead: number }
  | { readonly kind: 'elsewhere' }
  | ({ readonly kind: 'circuit_open' } & Omit<Extract<CircuitDecision, { open: true }>, 'open'>);

/** What a submission must pass: the credential's concurrency limit, then its circuit. */
export interface SubmitGate {
  /** Undefined: it may be sent. Reads nothing but memory where there is no limit and no open circuit. */
  enter(request: SubmitRequest): Promise<SubmitRefusal | undefined>;
  /** Records the upstream's response; undefined: it accepted. Never throws. */
  report(request: CircuitRequest, failure: UpstreamFailure | undefined): Promise<void>;
  /** Whether one of these candidates, known to have been full, would accept the task now. */
  anyHasRoom: SlotKeeper['anyHasRoom'];
  /** The task leaves this candidate, which has no job of it. */
  leave(task: string, candidate: RouteCandidate): Promise<void>;
}

export function createSubmitGate(deps: {
  readonly circuits: Pick<Circuits, 'enter' | 'report'>;
  readonly slots: SlotKeeper;
}): SubmitGate {
  const { circuits, slots } = deps;
  return {
    async enter(request) {
      const { candidate, candidates, submitMs, ...facts } = request;
      if (slots.isLimited(candidate)) {
        const others = candidates.filter((other) => !sameCandidate(other, candidate));
        const slot = await slots.take({ ...facts, candidate, others });
        if (slot.kind === 'wait') return { kind: 'full', ms: slot.ms, ahead: slot.ahead };
        if (slot.kind === 'elsewhere') return slot;
      }
      const { task, account, model } = request;
      const decision = await circuits.enter({ ...candidate, task, account, model }, submitMs);
      if (decision.open) {
        const { open: _open, ...refusal } = decision;
        return { kind: 'circuit_open', ...refusal };
      }
      // Nobody else is to wait for the turn that it would get there.
      if (facts.hasWaited && !slots.isLimited(candidate)) await slots.leaveQueues(task);
      return undefined;
    },
    report: (request, failure) => circuits.report(request, failure),
    anyHasRoom: (wanted, candidates) => slots.anyHasRoom(wanted, candidates),
    async leave(task, candidate) {
      if (slots.isLimited(candidate)) await slots.release(task, candidate);
    },
  };
}
