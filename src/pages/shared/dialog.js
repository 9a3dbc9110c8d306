import { html, useLayoutEffect, useRef } from './preact.js';

/**
 * A modal dialog that is open while it is rendered. The close button and Escape call `onClose`, unless `isFirm`
 * protects content that exists nowhere else.
 *
 * @param {{ title: string, onClose: () => void, closeWord?: string, isFirm?: boolean, children?: unknown }} props
 * `closeWord`: the close button's label, if closing does more than that.
 */
export function Dialog({ title, onClose, closeWord = 'Close', isFirm = false, children }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const escape = useRef(() => {});
  escape.current = () => {
    if (!isFirm) onClose();
  };
  // Open the dialog before the first paint, so that early key presses reach its first field.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    // Handle the key here for two reasons. Browsers close a dialog on the second Escape even if a `cancel` listener
    // prevents it, and the focused element may no longer exist.
    const onKey = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      escape.current();
    };
    document.addEventListener('keydown', onKey, true);
    return () => {
      document.removeEventListener('keydown', onKey, true);
      dialog?.close();
      requestAnimationFrame(keepFocus);
    };
  }, []);
  return html`<dialog
    ref=${element}
    aria-label=${title}
    onCancel=${(/** @type {Event} */ event) => {
      event.preventDefault();
      escape.current();
    }}
  >
    <div class="row apart">
      <h2>${title}</h2>
      ${!isFirm && html`<button class="plain" onClick=${onClose}>${closeWord}</button>`}
    </div>
    ${children}
  </dialog>`;
}

/** Prevents Enter in a field from submitting the form. Only the form's button submits it. @param {SubmitEvent} event */
export function hold(event) {
  event.preventDefault();
}

/** If the element that opened the dialog has disappeared or is disabled, moves the focus to the page's heading. */
function keepFocus() {
  const focused = document.activeElement;
  if (focused !== null && focused !== document.body && !focused.matches(':disabled')) return;
  /** @type {HTMLElement | null} */
  const heading = document.querySelector('main h1');
  heading?.setAttribute('tabindex', '-1');
  heading?.focus({ preventScroll: true });
}
