import htm from '../vendor/htm.js';
import { h } from '../vendor/preact.js';

export { render } from '../vendor/preact.js';
export { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../vendor/hooks.js';

/** Used instead of JSX. Each `${value}` becomes text or an attribute, never markup, so it needs no escaping. */
export const html = htm.bind(h);

/**
 * Focuses an element when it appears, as in `<input ...${focused} />`. `autofocus` alone works only in a dialog that
 * opens. Elsewhere, browsers honour it once per document and only after the next paint, when the user may already have
 * pressed a key.
 */
export const focused = {
  autofocus: true,
  ref: (/** @type {HTMLElement | null} */ element) => element?.focus(),
};
