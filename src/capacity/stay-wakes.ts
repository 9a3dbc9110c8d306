import type { Wake } from '../store/wakes.ts';
import type { StayPlaces } from './stay-places.ts';

/**
 * Ends the stays of tasks that somebody wants tried now. One small read a second, and only while an attempt stays in
 * this process: an attempt hears of nothing between two questions.
 */
export interface StayWakes {
  start(): void;
  stop(): void;
  /** What the timer does. Never rejects. */
  look(): Promise<void>;
}

export interface StayWakesDeps {
  readonly list: () => Promise<readonly Wake[]>;
  readonly stays: Pick<StayPlaces, 'isEmpty' | 'wake'>;
  readonly onError: (error: unknown) => void;
}

const lookIntervalMs = 1_000;

export function createStayWakes({ list, stays, onError }: StayWakesDeps): StayWakes {
  /** Those that were in force at the last look: each wakes once. */
  let known = new Set<string>();
  let isLooking = false;
  let timer: NodeJS.Timeout | undefined;

  async function look(): Promise<void> {
    if (isLooking || stays.isEmpty()) return;
    isLooking = true;
    try {
      const wakes = await list();
      for (const { task, id } of wakes) if (!known.has(id)) stays.wake(task);
      known = new Set(wakes.map(({ id }) => id));
    } catch (error) {
      onError(error);
    } finally {
      isLooking = false;
    }
  }

  return {
    look,
    start: () => void (timer ??= setInterval(() => void look(), lookIntervalMs).unref()),
    stop(): void {
      clearInterval(timer);
      timer = undefined;
    },
  };
}
