import { errorOf } from '../shared/api.js';
import { useRef, useState } from '../shared/preact.js';

/** A dialog waits at most this long for the page to refresh. Its action has already been performed by then. */
const shownWithinMs = 5_000;

/**
 * The dialog closes when the page behind it shows the effect, so that the next click applies to current data. `onSaved`
 * resolves at that point.
 *
 * @template Written
 * @param {{ run: (written: Written) => Promise<unknown>, onSaved?: (() => Promise<void>) | undefined, onClose: () => void }} dialog
 */
export function useSaving({ run, onSaved, onClose }) {
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  const [isBusy, setBusy] = useState(false);
  const isLeft = useRef(false);

  /** @param {Written} written */
  async function save(written) {
    setBusy(true);
    try {
      await run(written);
      await Promise.race([onSaved?.(), new Promise((resolve) => setTimeout(resolve, shownWithinMs))]);
      // If the operator has already closed this dialog, a different one may be open.
      if (!isLeft.current) onClose();
    } catch (thrown) {
      setError(errorOf(thrown));
      setBusy(false);
      // The action may have been performed even though its response was lost.
      void onSaved?.();
    }
  }

  function leave() {
    isLeft.current = true;
    onClose();
  }

  return { error, isBusy, save, leave, forget: () => setError(undefined) };
}
