import { setTimeout as sleep } from 'node:timers/promises';
import { placeOf, type CircuitPlace } from '../health/circuit-rules.ts';
import { fairOrder, type OrderedTask } from '../task/fair-order.ts';

export interface CircuitWakesDeps {
  readonly list: (
    place: CircuitPlace & { readonly from: number },
    limit: number,
  ) => Promise<readonly OrderedTask[]>;
  readonly wake: (task: string) => Promise<void>;
  readonly isOpen: (id: string) => boolean;
  readonly settleMs: number;
  readonly onError: (error: unknown) => void;
}

const listMax = 1_000;
const atOnce = 10;
const pauseMs = 100;

/**
 * When a circuit closes, wakes the tasks that wait for it, in fair order. Otherwise, each would wait until its own
 * back-off ends.
 */
export function createCircuitWakes({ list, wake, isOpen, settleMs, onError }: CircuitWakesDeps) {
  const running = new Set<string>();

  async function wakeAll(id: string): Promise<void> {
    const woken = new Set<string>();
    const place = placeOf(id);
    let from = 0;
    // Other processes may still see the circuit as open and would send the tasks back, so wait first.
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

  /** Never rejects. Does nothing while an earlier call for the same circuit is still waking tasks. */
  return async function circuitClosed(id: string): Promise<void> {
    if (running.has(id)) return;
    running.add(id);
    await wakeAll(id).catch(onError);
    running.delete(id);
  };
}
