import { periods } from '../base/periods.ts';
import { createRounds, type Rounds } from '../process/rounds.ts';
import type { Wake } from '../store/wakes.ts';
import type { StayPlaces } from './stay-places.ts';

export interface StayWakesDeps {
  readonly list: () => Promise<readonly Wake[]>;
  readonly stays: Pick<StayPlaces, 'isEmpty' | 'wake'>;
  readonly onError: (error: unknown) => void;
}

/**
 * Ends the waits of tasks that an operator wants to retry now, because a waiting attempt notices nothing between two
 * polls. Costs one small read per second while any attempt is waiting in this process.
 */
export function createStayWakes({ list, stays, onError }: StayWakesDeps): Rounds {
  let known = new Set<string>();

  async function work(): Promise<void> {
    if (stays.isEmpty()) return;
    const wakes = await list();
    for (const { task, id } of wakes) if (!known.has(id)) stays.wake(task);
    known = new Set(wakes.map(({ id }) => id));
  }

  return createRounds({ ...periods.wakes, work, onError });
}
