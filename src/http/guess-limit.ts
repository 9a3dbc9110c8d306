import { LRUCache } from 'lru-cache';
import { GatewayError } from '../errors/errors.ts';
import type { Logger } from '../observability/log.ts';

/** Keeps addresses from guessing operators' tokens. */
export interface GuessLimit {
  /** Runs a check whose result is undefined for a wrong token. Throws rate_limit_exceeded, unchecked, when locked out. */
  guard<Result>(address: string, check: () => Promise<Result | undefined>): Promise<Result | undefined>;
}

interface Guesses {
  wrong: number;
  /** Being checked. */
  open: number;
  lockouts: number;
  lockedUntil: number;
}

export interface GuessLimitDeps {
  readonly now: () => number;
  readonly log: Pick<Logger, 'warn'>;
}

/** Wrong tokens of one address, those that are being checked included. */
const guessesMax = 20;
/** Checked at once, of an address that has not been wrong. */
const openMax = 64;
const lockMinMs = 60_000;
const lockMaxMs = 3_600_000;
/** Who has not guessed for this long is forgiven. */
const forgottenAfterMs = 2 * lockMaxMs;
const addressesMax = 50_000;

export function createGuessLimit({ now, log }: GuessLimitDeps): GuessLimit {
  const known = new LRUCache<string, Guesses>({ max: addressesMax, ttl: forgottenAfterMs });

  function countWrong(address: string, guesses: Guesses): void {
    guesses.wrong += 1;
    known.set(address, guesses);
    if (guesses.wrong < guessesMax) return;
    const lockedMs = Math.min(lockMinMs * 2 ** guesses.lockouts, lockMaxMs);
    guesses.lockedUntil = now() + lockedMs;
    guesses.lockouts += 1;
    guesses.wrong = 0;
    log.warn({ address, retry_in_ms: lockedMs }, 'an address guesses operators’ tokens and is locked out');
  }

  return {
    async guard(address, check) {
      const guesses: Guesses = known.get(address) ?? { wrong: 0, open: 0, lockouts: 0, lockedUntil: 0 };
      known.set(address, guesses);
      const waitMs = guesses.lockedUntil - now();
      if (waitMs > 0) throw lockedOut(waitMs);
      const openMaxNow = guesses.wrong === 0 ? openMax : guessesMax - guesses.wrong;
      if (guesses.open >= openMaxNow) throw lockedOut(1_000);
      guesses.open += 1;
      try {
        const result = await check();
        if (result === undefined) countWrong(address, guesses);
        return result;
      } finally {
        guesses.open -= 1;
      }
    },
  };
}

function lockedOut(waitMs: number): GatewayError {
  return new GatewayError('rate_limit_exceeded', 'Too many wrong tokens have come from this address.', {
    retryAfterSeconds: Math.ceil(waitMs / 1000),
  });
}
