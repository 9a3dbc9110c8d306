import { html } from '../shared/preact.js';

/**
 * @param {{
 *   isFirst: boolean, hasMore: boolean, onNewest: () => void, onOlder: () => void, newest?: string, older?: string,
 * }} props
 */
export function Pages({ isFirst, hasMore, onNewest, onOlder, newest = 'Newest', older = 'Older' }) {
  if (isFirst && !hasMore) return null;
  return html`<p class="row pages">
    <button disabled=${isFirst} onClick=${onNewest}>${newest}</button>
    <button disabled=${!hasMore} onClick=${onOlder}>${older}</button>
  </p>`;
}
