import { defined } from '../base/defined.ts';
import type { RouteCandidate } from '../task/candidates.ts';
import type { CircuitRequest, Circuits } from './circuits.ts';
import type { SlotKeeper } from './slot-keeper.ts';
import { UpstreamError } from '../providers/provider.ts';

type ImageTarget = Omit<CircuitRequest, 'task'>;

/**
 * What a synchronous call passes before it is sent and reports to afterwards: a credential's concurrency limit and
 * circuit.
 */
export interface ImageGate {
  /** Undefined: it may be sent. A waiting caller does not queue. */
  enter(image: string, target: ImageTarget, callMs: number): Promise<UpstreamError | undefined>;
  /** Records the upstream's response; undefined: it delivered. Never throws. */
  report(image: string, target: ImageTarget, failure: UpstreamError | undefined): Promise<void>;
  /** The request has no call at this credential any more. Never throws: what was rendered is delivered all the same. */
  leave(image: string, candidate: RouteCandidate): Promise<void>;
}

const slotGraceMs = 60_000;

export function createImageGate(deps: {
  readonly circuits: Circuits;
  readonly slots: SlotKeeper;
  /** A slot could not be given back: its lease ends soon. */
  readonly onError: (error: unknown) => void;
}): ImageGate {
  const { circuits, slots, onError } = deps;
  return {
    async enter(image, target, callMs) {
      const { channel, credential } = target;
      const candidate = { channel, credential };
      if (slots.isLimited(candidate) && !(await slots.tryTake(image, candidate, callMs + slotGraceMs))) {
        return new UpstreamError('throttled', 'The channel is at its concurrency limit.', {
          code: 'at_concurrency_limit',
        });
      }
      const decision = await circuits.enter({ ...target, task: image }, callMs);
      if (!decision.open) return undefined;
      return new UpstreamError('not_sent', decision.detail, {
        code: 'circuit_open',
        ...defined({ retryAfterMs: decision.retryAfterMs }),
      });
    },
    report: (image, target, failure) => circuits.report({ ...target, task: image }, failure),
    async leave(image, candidate) {
      if (!slots.isLimited(candidate)) return;
      await slots.release(image).catch(onError);
    },
  };
}
