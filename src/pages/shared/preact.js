import htm from '../vendor/htm.js';
import { h } from '../vendor/preact.js';

export { render } from '../vendor/preact.js';
export { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../vendor/hooks.js';

/** Tagged templates instead of JSX. Every `${value}` becomes text or an attribute, never markup. */
export const html = htm.bind(h);

/**
 * Attributes that focus an element when it appears, as in `<input ...${focused} />`. The `autofocus` attribute alone
 * works when a dialog opens. Elsewhere, browsers honour it only once per document, and only after the next paint, when
 * a key may already have been pressed.
 */
export const focused = {
  autofocus: true,
  ref: (/** @type {HTMLElement | null} */ element) => element?.focus(),
};
