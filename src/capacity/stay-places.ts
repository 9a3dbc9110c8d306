/**
 * How many attempts of an activity may stay in this process and wait, for each task queue: each occupies a slot of its
 * worker. Whoever gets no place comes back by a timer on the server.
 */
export interface StayPlaces {
  /** Undefined: no place is free, or the worker shuts down. */
  enter(queue: string): StayPlace | undefined;
  /** No place is free: what can wait elsewhere does. */
  isFull(queue: string): boolean;
  /** Ends every stay now: another worker continues. */
  close(): void;
}

export interface StayPlace {
  /** Aborts when the worker shuts down. */
  readonly closing: AbortSignal;
  leave(): void;
}

export function createStayPlaces(placesMax: (queue: string) => number): StayPlaces {
  const taken = new Map<string, Set<AbortController>>();
  let closed = false;
  const isFull = (queue: string): boolean => (taken.get(queue)?.size ?? 0) >= placesMax(queue);
  return {
    isFull,

    enter(queue) {
      const places = taken.get(queue) ?? new Set();
      taken.set(queue, places);
      if (closed || isFull(queue)) return undefined;
      const place = new AbortController();
      places.add(place);
      return { closing: place.signal, leave: () => void places.delete(place) };
    },

    close() {
      closed = true;
      for (const places of taken.values())
        for (const place of places) place.abort(new Error('the worker ends'));
    },
  };
}
