import { html, useLayoutEffect, useRef } from './preact.js';

/**
 * A dialog over the page, open as long as it is rendered. Escape closes it, unless it is `isFirm`: what it shows is
 * nowhere else.
 *
 * @param {{ title: string, onClose: () => void, isFirm?: boolean, children?: unknown }} props
 */
export function Dialog({ title, onClose, isFirm = false, children }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const escape = useRef(() => {});
  escape.current = () => {
    if (!isFirm) onClose();
  };
  // Before it is seen: what is typed at once must reach its first field.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    // At the second Escape a browser closes it, whatever a listener of `cancel` says; and what had the focus may be gone.
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
      ${!isFirm && html`<button class="plain" onClick=${onClose}>Close</button>`}
    </div>
    ${children}
  </dialog>`;
}

/** Keeps Enter in a field from submitting a form: only its button acts. @param {SubmitEvent} event */
export function hold(event) {
  event.preventDefault();
}

/** Keeps the focus on the page if the element that opened the dialog is gone or disabled. */
function keepFocus() {
  const focused = document.activeElement;
  if (focused !== null && focused !== document.body && !focused.matches(':disabled')) return;
  /** @type {HTMLElement | null} */
  const heading = document.querySelector('main h1');
  heading?.setAttribute('tabindex', '-1');
  heading?.focus({ preventScroll: true });
}
