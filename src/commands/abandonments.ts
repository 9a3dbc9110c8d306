import { periods } from '../base/periods.ts';
import { limitRound, walk } from '../base/walk.ts';
import { createRounds } from '../process/rounds.ts';
import type { CreationTry, AbandonCreation } from './abandon-creation.ts';

export interface AbandonmentsDeps {
  readonly abandonCreation: AbandonCreation;
  readonly onError: (error: unknown) => void;
  readonly now: () => number;
}

/**
 * Creations that could not be abandoned because MongoDB did not respond. Each is retried for five minutes. The
 * reconciler abandons those that still fail, and those that did not fit in this queue.
 */
export interface Abandonments {
  add(creation: CreationTry): void;
  stop(): void;
}

const keptMs = 5 * 60_000;
const waitingMax = 1_000;

export function createAbandonments({ abandonCreation, onError, now }: AbandonmentsDeps): Abandonments {
  const waiting = new Map<string, { readonly creation: CreationTry; readonly until: number }>();

  async function work(): Promise<void> {
    const isOver = limitRound(now);
    await walk([...waiting], {
      loop: 'abandoned creations',
      isOver,
      async run([key, { creation }]) {
        await abandonCreation(creation);
        return waiting.delete(key);
      },
      onFailed([key, kept], error) {
        onError(error);
        // Move the failed item to the end so that the next round starts with the others.
        waiting.delete(key);
        if (now() <= kept.until) waiting.set(key, kept);
      },
    });
  }

  const rounds = createRounds({ ...periods.abandonedCreations, work, onError });
  return {
    add(creation) {
      if (waiting.size >= waitingMax) return;
      waiting.set(creation.tryId, { creation, until: now() + keptMs });
      rounds.start();
    },
    stop: () => void rounds.stop(),
  };
}
