import { GatewayError } from '../../domain/errors.ts';

/** How many bytes of request bodies this process holds at once, in all and for one key. */
export interface BodyBudget {
  /** For one request; `key` is absent on routes that need none. */
  open(key?: string): BodyAllowance;
  /** Bytes that are reserved now. */
  readonly reservedBytes: number;
}

/** What one request has reserved. */
export interface BodyAllowance {
  /** Throws GatewayError: 429 when the key has too much in memory, 503 when all keys together have. */
  reserve(bytes: number): void;
  /** Gives everything back. Repeatable. */
  release(): void;
}

export interface BodyBudgetLimits {
  readonly processBytesMax: number;
  readonly keyBytesMax: number;
}

/** A body leaves memory when its request is answered, which takes seconds. */
const retrySeconds = 2;

export function createBodyBudget({ processBytesMax, keyBytesMax }: BodyBudgetLimits): BodyBudget {
  const perKey = new Map<string, number>();
  let total = 0;

  function add(key: string, bytes: number): void {
    total += bytes;
    const left = (perKey.get(key) ?? 0) + bytes;
    if (left > 0) perKey.set(key, left);
    else perKey.delete(key);
  }

  return {
    get reservedBytes() {
      return total;
    },
    open(key = '') {
      let own = 0;
      return {
        reserve(bytes) {
          if ((perKey.get(key) ?? 0) + bytes > keyBytesMax) throw keyExceeded(keyBytesMax);
          if (total + bytes > processBytesMax) throw processExceeded();
          add(key, bytes);
          own += bytes;
        },
        release() {
          add(key, -own);
          own = 0;
        },
      };
    },
  };
}

function keyExceeded(bytesMax: number): GatewayError {
  return new GatewayError(
    'rate_limit_exceeded',
    `The requests of one API key may hold at most ${bytesMax} bytes of bodies at once. Send fewer at a time.`,
    { retryAfterSeconds: retrySeconds },
  );
}

function processExceeded(): GatewayError {
  return new GatewayError('service_unavailable', 'Too many large requests are in progress. Try again.', {
    retryAfterSeconds: retrySeconds,
  });
}
