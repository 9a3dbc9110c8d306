import { createRounds } from '../process/rounds.ts';
import type { CreationTry, AbandonCreation } from './abandon-creation.ts';

export interface AbandonmentsDeps {
  readonly abandonCreation: AbandonCreation;
  readonly onError: (error: unknown) => void;
  readonly now: () => number;
}

/**
 * Creations that were to be abandoned while MongoDB did not answer: repeated until it does. After five minutes, and
 * beyond a thousand of them, the reconciler cleans up: it abandons every creation that does not change.
 */
export interface Abandonments {
  add(creation: CreationTry): void;
  stop(): void;
}

const retryEveryMs = 1_000;
const keptMs = 5 * 60_000;
const waitingMax = 1_000;

export function createAbandonments({ abandonCreation, onError, now }: AbandonmentsDeps): Abandonments {
  const waiting = new Map<string, { readonly creation: CreationTry; readonly until: number }>();

  async function work(): Promise<void> {
    for (const [key, { creation, until }] of waiting) {
      try {
        await abandonCreation(creation);
        waiting.delete(key);
      } catch (error) {
        // The others behind it do not wait for it.
        onError(error);
        if (now() > until) waiting.delete(key);
      }
    }
  }

  const rounds = createRounds({ everyMs: retryEveryMs, work, onError });
  return {
    add(creation) {
      if (waiting.size >= waitingMax) return;
      waiting.set(creation.tryId, { creation, until: now() + keptMs });
      rounds.start();
    },
    stop: () => void rounds.stop(),
  };
}
