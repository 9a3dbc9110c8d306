import { html, useLayoutEffect, useRef } from './preact.js';

/**
 * A dialog over the page, open while it is rendered. The button beside its title and Escape close it. With `isFirm`,
 * neither does, which protects content that exists nowhere else.
 *
 * @param {{ title: string, onClose: () => void, closeWord?: string, isFirm?: boolean, children?: unknown }} props
 *   `closeWord`: what closing does, if it does more.
 */
export function Dialog({ title, onClose, closeWord = 'Close', isFirm = false, children }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const escape = useRef(() => {});
  escape.current = () => {
    if (!isFirm) onClose();
  };
  // Open the dialog before it is painted, so that early key presses reach its first field.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    // On a second Escape, browsers close the dialog regardless of a `cancel` listener. The focused element may also be
    // gone. Handle the key here instead.
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

/** Keeps Enter in a field from submitting the form, so that only its button does. @param {SubmitEvent} event */
export function hold(event) {
  event.preventDefault();
}

/** Moves the focus to the page's heading if the element that opened the dialog is gone or disabled. */
function keepFocus() {
  const focused = document.activeElement;
  if (focused !== null && focused !== document.body && !focused.matches(':disabled')) return;
  /** @type {HTMLElement | null} */
  const heading = document.querySelector('main h1');
  heading?.setAttribute('tabindex', '-1');
  heading?.focus({ preventScroll: true });
}
