import { createPlaces } from '../base/places.ts';
import type { Places } from '../base/places.ts';

/** A task that wants to stay in one of this worker's task queues. Its account holds the place. */
export interface Stayer {
  readonly queue: string;
  readonly account: string;
}

/**
 * Limits how many activity attempts per task queue may wait inside this process. Each of them occupies one of the
 * worker's slots. An attempt without a place ends, and a server-side timer starts the next one. If no place is free,
 * the account with the most places loses one to an account with fewer.
 */
export interface StayPlaces {
  /** Takes a place. Returns undefined if none is free or the worker is shutting down. */
  enter(stayer: Stayer, task: string): StayPlace | undefined;
  /** Whether there is no place for this account. Work that can wait elsewhere should then do so. */
  isFull(stayer: Stayer): boolean;
  /**
   * Returns how long an attempt without a place should stay away, in milliseconds. Spreads out the returns of all such
   * attempts.
   */
  returnInMs(queue: string): number;
  /** Whether no attempt is waiting here. */
  isEmpty(): boolean;
  /** Ends this task's wait, if it is waiting here, so that its next attempt starts immediately. */
  wake(task: string): void;
  /** Ends every wait so that another worker can continue. */
  close(): void;
}

/**
 * The reason why a wait ended: the worker is shutting down, an operator requested an immediate retry, or another
 * account got the place.
 */
export type StayEnd = 'closed' | 'woken' | 'evicted';

export interface StayPlace {
  /** Aborts when the wait must end. */
  readonly ending: AbortSignal;
  /** Aborts only when the worker shuts down. Waking a task does not interrupt a poll in flight. */
  readonly closing: AbortSignal;
  /** Returns why the wait must end. Undefined while it may continue. */
  endedBy(): StayEnd | undefined;
  /** Sets whether the attempt is resting. While it is not, no other account gets its place. */
  rests(isResting: boolean): void;
  leave(): void;
}

interface Stay {
  readonly task: string;
  end(by: StayEnd): void;
}

export interface StayPlacesOptions {
  readonly placesMax: (queue: string) => number;
  readonly now: () => number;
}

const returnMinMs = 5_000;
/**
 * The interval between returns per queue: 50 per second. Each return costs two writes on Temporal's server, and 7,000
 * unspaced attempts would all return every five seconds.
 */
const returnEveryMs = 20;

export function createStayPlaces({ placesMax, now }: StayPlacesOptions): StayPlaces {
  const queues = new Map<string, Places>();
  const stays = new Set<Stay>();
  const returns = new Map<string, number>();
  let closed = false;

  function placesOf(queue: string): Places {
    const places =
      queues.get(queue) ?? createPlaces({ name: 'attempts that stay', placesMax: placesMax(queue) });
    queues.set(queue, places);
    return places;
  }

  function endAll(by: StayEnd, isMeant: (stay: Stay) => boolean): void {
    for (const stay of stays) if (isMeant(stay)) stay.end(by);
  }

  return {
    isFull: ({ queue, account }) => placesOf(queue).refusal(account, 1) !== undefined,

    returnInMs(queue) {
      const at = Math.max(returns.get(queue) ?? 0, now() + returnMinMs) + returnEveryMs;
      returns.set(queue, at);
      return at - now();
    },

    isEmpty: () => stays.size === 0,

    enter({ queue, account }, task) {
      if (closed) return undefined;
      const [ending, closing] = [new AbortController(), new AbortController()];
      let endedBy: StayEnd | undefined;
      const end = (by: StayEnd): void => {
        if (endedBy === undefined || endedBy === 'evicted') endedBy = by;
        const reason = new Error(`the wait ends: ${by}`);
        ending.abort(reason);
        if (by === 'closed') closing.abort(reason);
      };
      const place = placesOf(queue).take(account, { evict: () => end('evicted') });
      if (typeof place === 'string') return undefined;
      const stay = { task, end };
      stays.add(stay);
      return {
        ending: ending.signal,
        closing: closing.signal,
        endedBy: () => endedBy,
        rests: (isResting) => place.mark(isResting ? 'busy' : 'kept'),
        leave() {
          stays.delete(stay);
          place.leave();
        },
      };
    },

    wake: (task) => endAll('woken', (stay) => stay.task === task),

    close() {
      closed = true;
      endAll('closed', () => true);
    },
  };
}
