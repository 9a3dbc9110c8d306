import type { CircuitDecision, CircuitRequest, Circuits, TakenProbes, UpstreamFailure } from './circuits.ts';

export type Passed<Refusal, Sent> = { readonly refused: Refusal } | { readonly sent: Sent };

/** Must call `report` with the upstream's failure, or with undefined if the upstream accepted the request. */
export type Send<Sent> = (report: (failure: UpstreamFailure | undefined) => void) => Promise<Sent>;

export type CircuitRefusal = Omit<Extract<CircuitDecision, { open: true }>, 'open'>;

interface Entering {
  readonly request: CircuitRequest;
  readonly submitMs: number;
}

/**
 * Sends the request unless a circuit is open. If the request is a probe, the probe is released afterwards, even if
 * nothing was sent or the response says nothing about the upstream's health.
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
    void Promise.resolve(reported).then(() => circuits.leave(taken));
  }
}
