/**
 * How many attempts of an activity may stay in this process and wait, for each task queue: each occupies a slot of its
 * worker. Whoever gets no place comes back by a timer on the server.
 */
export interface StayPlaces {
  /** Undefined: no place is free, or the worker shuts down. */
  enter(queue: string, task: string): StayPlace | undefined;
  /** No place is free: what can wait elsewhere does. */
  isFull(queue: string): boolean;
  /** Milliseconds after which one that found no place comes back: many that do are spread, whatever their number. */
  returnInMs(queue: string): number;
  /** Nobody stays. */
  isEmpty(): boolean;
  /** Ends the stay of this task, if it is here: its next attempt begins at once. */
  wake(task: string): void;
  /** Ends every stay now: another worker continues. */
  close(): void;
}

/** Why a stay ends: the worker shuts down, or somebody wants the task tried now. */
export type StayEnd = 'closed' | 'woken';

export interface StayPlace {
  /** Aborts when the stay has to end. */
  readonly ending: AbortSignal;
  /** Aborts when the worker shuts down: whoever wants the task tried now does not interrupt a question. */
  readonly closing: AbortSignal;
  /** Undefined: it may last. */
  endedBy(): StayEnd | undefined;
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
/** Of a queue: 50 a second. Each that comes back is two writes on Temporal's server, and 7,000 would come every five seconds. */
const returnEveryMs = 20;

export function createStayPlaces({ placesMax, now }: StayPlacesOptions): StayPlaces {
  const taken = new Map<string, Set<Stay>>();
  const returns = new Map<string, number>();
  let closed = false;
  const isFull = (queue: string): boolean => (taken.get(queue)?.size ?? 0) >= placesMax(queue);

  function endAll(by: StayEnd, isMeant: (stay: Stay) => boolean): void {
    for (const stays of taken.values()) for (const stay of stays) if (isMeant(stay)) stay.end(by);
  }

  return {
    isFull,

    returnInMs(queue) {
      const at = Math.max(returns.get(queue) ?? 0, now() + returnMinMs) + returnEveryMs;
      returns.set(queue, at);
      return at - now();
    },

    isEmpty: () => [...taken.values()].every(({ size }) => size === 0),

    enter(queue, task) {
      const stays = taken.get(queue) ?? new Set();
      taken.set(queue, stays);
      if (closed || isFull(queue)) return undefined;
      const [ending, closing] = [new AbortController(), new AbortController()];
      let endedBy: StayEnd | undefined;
      const end = (by: StayEnd): void => {
        endedBy ??= by;
        const reason = new Error(`the stay ends: ${by}`);
        ending.abort(reason);
        if (by === 'closed') closing.abort(reason);
      };
      const stay = { task, end };
      stays.add(stay);
      return {
        ending: ending.signal,
        closing: closing.signal,
        endedBy: () => endedBy,
        leave: () => void stays.delete(stay),
      };
    },

    wake: (task) => endAll('woken', (stay) => stay.task === task),

    close() {
      closed = true;
      endAll('closed', () => true);
    },
  };
}
