import { createPlaces, type Refusal, type SharedPlaces } from '../../base/places.ts';
import { GatewayError } from '../../errors/errors.ts';

export interface BodyBudget {
  open(account: string): BodyAllowance;
  readonly reservedBytes: number;
}

export interface BodyAllowance {
  /**
   * If the budget is full, the account that holds the most has to make room: its largest body that is still being read
   * is cut off. Throws a GatewayError with status 429 if this account already holds too much, or 503 if no other
   * account holds more.
   */
  reserve(bytes: number): void;
  /** Throws whenever `reserve` would, but reserves nothing. Use this for bytes that may be needed later. */
  requireRoom(bytes: number): void;
  /** From now on, the body may be cut off to make room. `cut` is then called with the reason, at most once. */
  whileRead(cut: (reason: GatewayError) => void): void;
  /** Call this when the body is complete. It can no longer be cut off. */
  keep(): void;
  release(): void;
}

export interface BodyBudgetLimits {
  readonly name: SharedPlaces;
  readonly bytesMax: number;
  readonly accountBytesMax: number;
}

export type BodyKind = 'json' | 'images' | 'callbacks';

/** The share of the memory that each kind of body may use. One account may use `accountShare` of that. */
const memoryShares: Readonly<Record<BodyKind, number>> = { json: 0.4, images: 0.5, callbacks: 0.1 };
const accountShare = 0.75;

export interface BodyBudgets {
  readonly memory: Readonly<Record<BodyKind, BodyBudget>>;
  readonly disk: BodyBudget;
}

export function createBodyBudgets(limits: {
  readonly bodiesBytesMax: number;
  readonly uploadsBytesMax: number;
}): BodyBudgets {
  const budgetOf = (name: SharedPlaces, bytesMax: number): BodyBudget =>
    createBodyBudget({ name, bytesMax, accountBytesMax: bytesMax * accountShare });
  const memoryOf = (kind: BodyKind): BodyBudget =>
    budgetOf(`bodies of ${kind}`, limits.bodiesBytesMax * memoryShares[kind]);
  return {
    memory: { json: memoryOf('json'), images: memoryOf('images'), callbacks: memoryOf('callbacks') },
    disk: budgetOf('uploads on disk', limits.uploadsBytesMax),
  };
}

/** When to retry if the memory is full. Sending a response frees its memory, usually within a few seconds. */
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
      // A reservation of 0 bytes always fits, so this check only narrows the type.
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
    `The request bodies of one account may total at most ${bytesMax} bytes at a time. Send fewer requests at once.`,
    { retryAfterSeconds: retrySeconds },
  );
}

function processExceeded(name: string): GatewayError {
  return new GatewayError(
    'service_unavailable',
    'Too many large requests are in progress. Try again shortly.',
    {
      detail: name,
      retryAfterSeconds: retrySeconds,
    },
  );
}
