import { createPlaces } from '../../base/places.ts';
import type { Refusal } from '../../base/places.ts';
import { GatewayError } from '../../errors/errors.ts';

/** How many bytes the request bodies of one kind hold in this process, in memory or on disk, in all and for an account. */
export interface BodyBudget {
  /** For one request. */
  open(account: string): BodyAllowance;
  /** Bytes that are reserved now. */
  readonly reservedBytes: number;
}

/** What one request has reserved. */
export interface BodyAllowance {
  /**
   * Throws GatewayError: 429 when the account has too much, 503 when all have and nobody has more than this account.
   * Who has most makes room: the largest body that is still being read is cut.
   */
  reserve(bytes: number): void;
  /** Throws as `reserve` would, and reserves nothing: for what is needed later, if at all. Nobody is cut. */
  requireRoom(bytes: number): void;
  /** From now on `cut` ends it when it has to make room. Called with the reason, at most once. */
  whileRead(cut: (reason: GatewayError) => void): void;
  /** The body is complete: the request is carried out, and is not cut any more. */
  keep(): void;
  /** Gives everything back. Repeatable. */
  release(): void;
}

export interface BodyBudgetLimits {
  readonly name: string;
  readonly bytesMax: number;
  readonly accountBytesMax: number;
}

/** Who uses it, so that none takes another's share: small JSON, images, and what upstreams say. */
export type BodyKind = 'json' | 'images' | 'callbacks';

/** Of the memory, and within it what one account may have. */
const memoryShares: Readonly<Record<BodyKind, number>> = { json: 0.4, images: 0.5, callbacks: 0.1 };
const accountShare = 0.75;

export interface BodyBudgets {
  readonly memory: Readonly<Record<BodyKind, BodyBudget>>;
  readonly disk: BodyBudget;
}

/** One budget of memory for each kind of body, and one of disk space for uploaded files. */
export function createBodyBudgets(limits: {
  readonly bodiesBytesMax: number;
  readonly uploadsBytesMax: number;
}): BodyBudgets {
  const budgetOf = (name: string, bytesMax: number): BodyBudget =>
    createBodyBudget({ name, bytesMax, accountBytesMax: bytesMax * accountShare });
  const memoryOf = (kind: BodyKind): BodyBudget =>
    budgetOf(`bodies of ${kind}`, limits.bodiesBytesMax * memoryShares[kind]);
  return {
    memory: { json: memoryOf('json'), images: memoryOf('images'), callbacks: memoryOf('callbacks') },
    disk: budgetOf('uploads on disk', limits.uploadsBytesMax),
  };
}

/** A body leaves memory when its request is answered, which takes seconds. */
const retrySeconds = 2;

export function createBodyBudget({ name, bytesMax, accountBytesMax }: BodyBudgetLimits): BodyBudget {
  const places = createPlaces({ name, placesMax: bytesMax, shareMax: accountBytesMax });
  const check = (refusal: Refusal | undefined): void => {
    if (refusal === 'share') throw accountExceeded(accountBytesMax);
    if (refusal === 'full') throw processExceeded(name);
  };
  return {
    get reservedBytes() {
      return places.held;
    },
    open(account) {
      let cut: ((reason: GatewayError) => void) | undefined;
      let isOpen = true;
      const close = (): void => {
        isOpen = false;
        cut = undefined;
      };
      const evict = (): void => {
        const end = cut;
        close();
        end?.(processExceeded(name));
      };
      const place = places.take(account, { size: 0, evict });
      // A place of 0 bytes always fits, so this check only narrows the type.
      if (typeof place === 'string') throw processExceeded(name);
      place.mark('kept');
      return {
        reserve: (bytes) => check(isOpen ? place.resize(place.size + bytes) : undefined),
        requireRoom: (bytes) => check(places.refusal(account, bytes)),
        whileRead(end) {
          cut = end;
          place.mark('busy');
        },
        keep() {
          cut = undefined;
          place.mark('kept');
        },
        release() {
          close();
          place.leave();
        },
      };
    },
  };
}

function accountExceeded(bytesMax: number): GatewayError {
  return new GatewayError(
    'rate_limit_exceeded',
    `The requests of one account may hold at most ${bytesMax} bytes of bodies at once. Send fewer at a time.`,
    { retryAfterSeconds: retrySeconds },
  );
}

function processExceeded(name: string): GatewayError {
  return new GatewayError('service_unavailable', 'Too many large requests are in progress. Try again.', {
    detail: name,
    retryAfterSeconds: retrySeconds,
  });
}
