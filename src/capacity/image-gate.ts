import { defined } from '../base/defined.ts';
import { createPlaces, type Place, type Places } from '../base/places.ts';
import { connectionsPerOriginMax } from '../base/upstream-connections.ts';
import type { CircuitRequest, Circuits } from './circuits.ts';
import type { SlotKeeper } from './slot-keeper.ts';
import { throughCircuits, type CircuitRefusal, type Passed, type Send } from './through-circuits.ts';
import { UpstreamError } from '../providers/provider.ts';

interface ImageCall extends CircuitRequest {
  readonly callMs: number;
  /** Of the upstream's URL. Channels with the same origin share its connections. */
  readonly origin: string;
  /** The number of calls that are made in parallel. */
  readonly calls: number;
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
  const connections = createOriginPlaces();
  return {
    async pass({ callMs, origin, calls, ...request }, send) {
      const { task: image, account, channel, credential } = request;
      const candidate = { channel, credential };
      const place = connections.take(origin, { account, calls });
      if (place === undefined) return { refused: atLimit() };
      const isLimited = slots.isLimited(candidate);
      try {
        const leaseMs = callMs + slotGraceMs;
        if (isLimited && !(await slots.tryTake({ task: image, account, candidate, leaseMs })))
          return { refused: atLimit() };
        const passed = await throughCircuits(circuits, { request, submitMs: callMs }, send);
        return 'sent' in passed ? passed : { refused: circuitOpen(passed.refused) };
      } finally {
        place.leave();
        if (isLimited) await slots.release(image).catch(onError);
      }
    },
  };
}

const accountShare = 0.75;

/** One account must not occupy all connections to an upstream, because the calls of others would wait for minutes. */
function createOriginPlaces() {
  const shareMax = connectionsPerOriginMax * accountShare;
  const origins = new Map<string, Places>();
  const newPlaces = (): Places =>
    createPlaces({ name: 'image calls to an origin', placesMax: connectionsPerOriginMax, shareMax });
  return {
    take(
      origin: string,
      { account, calls }: Pick<ImageCall, 'account' | 'calls'>,
    ): Pick<Place, 'leave'> | undefined {
      const places = origins.get(origin) ?? newPlaces();
      const place = places.take(account, { size: Math.min(calls, shareMax) });
      if (typeof place === 'string') return undefined;
      origins.set(origin, places);
      return {
        leave() {
          place.leave();
          if (places.held === 0) origins.delete(origin);
        },
      };
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
