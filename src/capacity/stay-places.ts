import { createPlaces, type Places } from '../base/places.ts';

/** A task that wants to wait inside this worker. Its account has a limited share of such waits. */
export interface Stayer {
  readonly queue: string;
  readonly account: string;
}

/**
 * Limits how many activity attempts may wait inside this process, because each occupies one of the worker's slots. An
 * attempt that finds no room ends, and the Temporal server starts the next one later. If all places are taken, the
 * account with the most waiting attempts may lose one to an account with fewer.
 */
export interface StayPlaces {
  enter(stayer: Stayer, task: string): StayPlace | undefined;
  /** If true, an attempt should not wait here, but let the Temporal server start the next one later. */
  isFull(stayer: Stayer): boolean;
  returnInMs(queue: string): number;
  isEmpty(): boolean;
  /** If the task is waiting here, ends its wait, so that its next attempt starts immediately. */
  wake(task: string): void;
  close(): void;
}

/**
 * The worker is shutting down (`closed`), an operator asked for an immediate retry (`woken`), or another account got
 * the place (`evicted`).
 */
export type StayEnd = 'closed' | 'woken' | 'evicted';

export interface StayPlace {
  readonly ending: AbortSignal;
  /** Aborts only when the worker shuts down. Waking a task does not interrupt a poll in flight. */
  readonly closing: AbortSignal;
  endedBy(): StayEnd | undefined;
  /** Call this with true while the attempt is only waiting. Other accounts can take its place only then. */
  rests(isResting: boolean): void;
  leave(): void;
}

interface Stay {
  readonly task: string;
  end(by: StayEnd): void;
}

export interface StayPlacesOptions {
  readonly placesMax: (queue: string) => number;
  /** A monotonic clock, in milliseconds. */
  readonly monotonic: () => number;
}

const returnMinMs = 5_000;
/**
 * At most 50 attempts per second return to one queue. Each return costs two writes on the Temporal server, and without
 * this limit, 7,000 attempts would return every five seconds.
 */
const returnEveryMs = 20;

export function createStayPlaces({ placesMax, monotonic }: StayPlacesOptions): StayPlaces {
  const queues = new Map<string, Places>();
  const stays = new Set<Stay>();
  const returns = new Map<string, number>();
  let closed = false;

  function placesOf(queue: string): Places {
    const places =
      queues.get(queue) ??
      createPlaces({ name: 'attempts that poll in a worker', placesMax: placesMax(queue) });
    queues.set(queue, places);
    return places;
  }

  function endAll(by: StayEnd, isMeant: (stay: Stay) => boolean): void {
    for (const stay of stays) if (isMeant(stay)) stay.end(by);
  }

  return {
    isFull: ({ queue, account }) => placesOf(queue).refusal(account, 1) !== undefined,

    returnInMs(queue) {
      const at = Math.max(returns.get(queue) ?? 0, monotonic() + returnMinMs) + returnEveryMs;
      returns.set(queue, at);
      return at - monotonic();
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
