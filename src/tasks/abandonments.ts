import type { Creation, GiveUp } from './give-up.ts';

export interface AbandonmentsDeps {
  readonly giveUp: GiveUp;
  readonly onError: (error: unknown) => void;
  readonly retryEveryMs?: number;
}

/** Creations that were given up while MongoDB did not answer: tried again until it does. */
export interface Abandonments {
  add(creation: Creation): void;
  stop(): void;
}

const retryEveryMsDefault = 1_000;
/** Beyond this many the reconciler cleans up: it finds every one of them two minutes after its creation. */
const waitingMax = 1_000;

export function createAbandonments(deps: AbandonmentsDeps): Abandonments {
  const waiting = new Map<string, Creation>();
  let timer: NodeJS.Timeout | undefined;
  let isBusy = false;

  async function retry(): Promise<void> {
    if (isBusy) return;
    isBusy = true;
    for (const [key, creation] of waiting) {
      try {
        await deps.giveUp(creation);
        waiting.delete(key);
      } catch (error) {
        // Tried again; what stands behind it does not wait for it.
        deps.onError(error);
      }
    }
    isBusy = false;
    if (waiting.size === 0) stop();
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    add(creation) {
      if (waiting.size >= waitingMax) return;
      waiting.set(creation.unstarted, creation);
      timer ??= setInterval(() => void retry(), deps.retryEveryMs ?? retryEveryMsDefault).unref();
    },
    stop,
  };
}
