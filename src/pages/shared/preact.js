import htm from '../vendor/htm.js';
import { h } from '../vendor/preact.js';

export { render } from '../vendor/preact.js';
export { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../vendor/hooks.js';

/** Tagged templates instead of JSX. Every `${value}` becomes text or an attribute, never markup. */
export const html = htm.bind(h);
