import { defined } from '../base/defined.ts';
import type { CircuitRequest, Circuits } from './circuits.ts';
import type { SlotKeeper } from './slot-keeper.ts';
import { throughCircuits } from './through-circuits.ts';
import type { CircuitRefusal, Passed, Send } from './through-circuits.ts';
import { UpstreamError } from '../providers/provider.ts';

interface ImageCall extends CircuitRequest {
  readonly callMs: number;
}

export interface ImageGate {
  /**
   * Calls never queue, because a caller is waiting. Accounts whose calls were rejected have priority when they retry
   * (`refused-accounts.ts`). If the slot cannot be freed afterwards, the image is still delivered and the slot's lease
   * expires.
   */
  pass<Sent>(call: ImageCall, send: Send<Sent>): Promise<Passed<UpstreamError, Sent>>;
}

const slotGraceMs = 60_000;

export function createImageGate(deps: {
  readonly circuits: Pick<Circuits, 'enter' | 'report' | 'leave'>;
  readonly slots: SlotKeeper;
  readonly onError: (error: unknown) => void;
}): ImageGate {
  const { circuits, slots, onError } = deps;
  return {
    async pass({ callMs, ...request }, send) {
      const { task: image, account, channel, credential } = request;
      const candidate = { channel, credential };
      const isLimited = slots.isLimited(candidate);
      try {
        const leaseMs = callMs + slotGraceMs;
        if (isLimited && !(await slots.tryTake({ task: image, account, candidate, leaseMs })))
          return { refused: atLimit() };
        const passed = await throughCircuits(circuits, { request, submitMs: callMs }, send);
        return 'sent' in passed ? passed : { refused: circuitOpen(passed.refused) };
      } finally {
        if (isLimited) await slots.release(image).catch(onError);
      }
    },
  };
}

function atLimit(): UpstreamError {
  return new UpstreamError('throttled', 'The channel is at its concurrency limit.', {
    code: 'at_concurrency_limit',
  });
}

function circuitOpen({ detail, retryAfterMs }: CircuitRefusal): UpstreamError {
  return new UpstreamError('not_sent', detail, { code: 'circuit_open', ...defined({ retryAfterMs }) });
}
