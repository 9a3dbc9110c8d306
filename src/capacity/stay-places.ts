/**
 * How many attempts of an activity may stay in this process and wait, for each task queue: each occupies a slot of its
 * worker. Whoever gets no place comes back by a timer on the server.
 */
export interface StayPlaces {
  /** Undefined: no place is free, or the worker shuts down. */
  enter(queue: string, task: string): StayPlace | undefined;
  /** No place is free: what can wait elsewhere does. */
  isFull(queue: string): boolean;
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
  /** Undefined: it may last. */
  endedBy(): StayEnd | undefined;
  leave(): void;
}

interface Stay {
  readonly task: string;
  end(by: StayEnd): void;
}

export function createStayPlaces(placesMax: (queue: string) => number): StayPlaces {
  const taken = new Map<string, Set<Stay>>();
  let closed = false;
  const isFull = (queue: string): boolean => (taken.get(queue)?.size ?? 0) >= placesMax(queue);

  function endAll(by: StayEnd, isMeant: (stay: Stay) => boolean): void {
    for (const stays of taken.values()) for (const stay of stays) if (isMeant(stay)) stay.end(by);
  }

  return {
    isFull,
    isEmpty: () => [...taken.values()].every(({ size }) => size === 0),

    enter(queue, task) {
      const stays = taken.get(queue) ?? new Set();
      taken.set(queue, stays);
      if (closed || isFull(queue)) return undefined;
      const controller = new AbortController();
      let endedBy: StayEnd | undefined;
      const end = (by: StayEnd): void => {
        endedBy ??= by;
        controller.abort(new Error(`the stay ends: ${by}`));
      };
      const stay = { task, end };
      stays.add(stay);
      return { ending: controller.signal, endedBy: () => endedBy, leave: () => void stays.delete(stay) };
    },

    wake: (task) => endAll('woken', (stay) => stay.task === task),

    close() {
      closed = true;
      endAll('closed', () => true);
    },
  };
}
