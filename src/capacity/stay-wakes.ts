import { createRounds } from '../process/rounds.ts';
import type { Rounds } from '../process/rounds.ts';
import type { Wake } from '../store/wakes.ts';
import type { StayPlaces } from './stay-places.ts';

export interface StayWakesDeps {
  readonly list: () => Promise<readonly Wake[]>;
  readonly stays: Pick<StayPlaces, 'isEmpty' | 'wake'>;
  readonly onError: (error: unknown) => void;
}

const everyMs = 1_000;

/**
 * Ends the stays of tasks that somebody wants tried now. One small read a second, and only while an attempt stays in
 * this process: an attempt hears of nothing between two questions.
 */
export function createStayWakes({ list, stays, onError }: StayWakesDeps): Rounds {
  /** Those that were in force at the last look: each wakes once. */
  let known = new Set<string>();

  async function work(): Promise<void> {
    if (stays.isEmpty()) return;
    const wakes = await list();
    for (const { task, id } of wakes) if (!known.has(id)) stays.wake(task);
    known = new Set(wakes.map(({ id }) => id));
  }

  return createRounds({ everyMs, work, onError });
}
