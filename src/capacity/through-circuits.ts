import type { CircuitDecision, CircuitRequest, Circuits, TakenProbes, UpstreamFailure } from './circuits.ts';

/** A request's outcome: why it was not sent, or what sending it returned. */
export type Passed<Refusal, Sent> = { readonly refused: Refusal } | { readonly sent: Sent };

/**
 * Sends an admitted request. Calls `report` with the upstream's failure, or with undefined if the upstream accepted.
 */
export type Send<Sent> = (report: (failure: UpstreamFailure | undefined) => void) => Promise<Sent>;

export type CircuitRefusal = Omit<Extract<CircuitDecision, { open: true }>, 'open'>;

interface Entering {
  readonly request: CircuitRequest;
  /** The maximum duration of the submission, in milliseconds. */
  readonly submitMs: number;
}

/**
 * Sends a request unless a circuit is open. The request may be a circuit's probe. The probe's place is free afterwards,
 * even if the request was not sent or its response did not concern health.
 */
export async function throughCircuits<Sent>(
  circuits: Pick<Circuits, 'enter' | 'report' | 'leave'>,
  { request, submitMs }: Entering,
  send: Send<Sent>,
): Promise<Passed<CircuitRefusal, Sent>> {
  let reported: Promise<void> | undefined;
  const taken: TakenProbes = [];
  try {
    const decision = await circuits.enter(request, submitMs, taken);
    if (decision.open) {
      const { open: _open, ...refused } = decision;
      return { refused };
    }
    return { sent: await send((failure) => void (reported ??= circuits.report(request, failure))) };
  } finally {
    // The caller does not wait for the writes.
    void Promise.resolve(reported).then(() => circuits.leave(taken));
  }
}
