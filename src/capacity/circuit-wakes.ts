import { setTimeout as sleep } from 'node:timers/promises';
import { placeOf } from '../health/circuit-rules.ts';
import type { CircuitPlace } from '../health/circuit-rules.ts';
import { fairOrder } from '../task/fair-order.ts';
import type { OrderedTask } from '../task/fair-order.ts';

export interface CircuitWakesDeps {
  /** Lists at most `limit` tasks that wait for this place, the earliest deadline first, beginning with `from`. */
  readonly list: (
    place: CircuitPlace & { readonly from: number },
    limit: number,
  ) => Promise<readonly OrderedTask[]>;
  /** Ends the back-off of the task's submission. Never throws. */
  readonly wake: (task: string) => Promise<void>;
  /** Whether the circuit is open again, so that a task woken now would only have to wait again. */
  readonly isOpen: (id: string) => boolean;
  /** The time after which every process has read that the circuit is closed. */
  readonly settleMs: number;
  readonly onError: (error: unknown) => void;
}

const listMax = 1_000;
const atOnce = 10;
const pauseMs = 100;

/**
 * Wakes the tasks that wait for a circuit after it has closed, in fair order. Without this, each task would come back
 * when its own back-off ends.
 */
export function createCircuitWakes({ list, wake, isOpen, settleMs, onError }: CircuitWakesDeps) {
  const running = new Set<string>();

  async function wakeAll(id: string): Promise<void> {
    const woken = new Set<string>();
    const place = placeOf(id);
    let from = 0;
    // Until then other processes may still read the circuit as open, and would send a woken task back to sleep.
    await sleep(settleMs);
    for (;;) {
      const page = await list({ ...place, from }, listMax);
      const waiting = page.filter((task) => !woken.has(task.id));
      if (waiting.length === 0) return;
      from = page.at(-1)?.deadlineAt ?? from;
      const order = fairOrder(waiting);
      for (let first = 0; first < order.length; first += atOnce) {
        if (isOpen(id)) return;
        const next = order.slice(first, first + atOnce);
        for (const task of next) woken.add(task.id);
        await Promise.all(next.map((task) => wake(task.id)));
        await sleep(pauseMs);
      }
      if (page.length < listMax) return;
    }
  }

  /** Never rejects. Each circuit has at most one run at a time. */
  return async function circuitClosed(id: string): Promise<void> {
    if (running.has(id)) return;
    running.add(id);
    await wakeAll(id).catch(onError);
    running.delete(id);
  };
}
