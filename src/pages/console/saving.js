import { errorOf } from '../shared/api.js';
import { useRef, useState } from '../shared/preact.js';

/** A dialog does not wait longer for the page. Its act has taken effect. */
const shownWithinMs = 5_000;

/**
 * Performs a dialog's act. The dialog closes once the page behind it shows the effect, so that the next press applies to
 * what the page shows. `onSaved` resolves at that point.
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
      // After leaving, another dialog may be open.
      if (!isLeft.current) onClose();
    } catch (thrown) {
      setError(errorOf(thrown));
      setBusy(false);
      // The act may have taken effect although its response was lost.
      void onSaved?.();
    }
  }

  function leave() {
    isLeft.current = true;
    onClose();
  }

  return { error, isBusy, save, leave, forget: () => setError(undefined) };
}
