import { ApiError, OfflineError } from './api.js';
import { dateTime, relative } from './format.js';
import { html } from './preact.js';

/** @typedef {'good' | 'busy' | 'warn' | 'bad' | 'idle'} Tone */

/** @param {{ tone: Tone, word: string }} props */
export function Badge({ tone, word }) {
  return html`<span class=${`badge ${tone}`}>${word}</span>`;
}

/**
 * Shows how long ago a time was, and the exact time on hover. If `exact` is set, both are always visible.
 *
 * @param {{ at: number | null | undefined, exact?: boolean }} props
 */
export function Time({ at, exact = false }) {
  if (at === null || at === undefined) return html`<span class="soft">–</span>`;
  const [full, near] = [dateTime(at), relative(at, Date.now() / 1000)];
  const iso = new Date(at * 1000).toISOString();
  return exact
    ? html`<time datetime=${iso}>${full}</time> <span class="soft">${near}</span>`
    : html`<time datetime=${iso} title=${full}>${near}</time>`;
}

/** @param {{ live: { data: unknown, error: Error | undefined, offlineSince: number | undefined, refresh: () => void } }} props */
export function LiveState({ live: { data, error, offlineSince, refresh } }) {
  if (error === undefined)
    return data === undefined ? html`<p class="soft" role="status">Loading…</p>` : null;
  const repeat = html`<button class="plain" onClick=${refresh}>Retry now</button>`;
  if (error instanceof OfflineError) {
    const since = offlineSince === undefined ? '' : ` since ${dateTime(offlineSince / 1000).slice(11)}`;
    const older = data === undefined ? '' : ' The data shown here may be out of date.';
    return html`<p class="notice bad" role="alert">
      ${`The gateway does not respond${since}.${older} `}${repeat}
    </p>`;
  }
  return html`<div class="notice bad" role="alert"><${Refusal} error=${error} /> ${repeat}</div>`;
}

/** @param {{ error: Error }} props */
export function Refusal({ error }) {
  const detail = error instanceof ApiError ? `${error.code}, request ${error.requestId}` : '';
  return html`<span>${error.message}</span
    >${detail === '' ? null : html` <span class="small soft">${detail}</span>`}`;
}

/** @param {{ text: string }} props */
export function Label({ text }) {
  const [, name = text, note] = /^(.+?) (\(.+\))$/s.exec(text) ?? [];
  return html`${name}${note && html` <span class="soft small">${note}</span>`}`;
}

/** @param {{ rows: readonly (readonly [string, unknown])[] }} props Rows without a value, or with false, are omitted. */
export function Facts({ rows }) {
  const given = rows.filter(
    ([, value]) => value !== null && value !== undefined && value !== '' && value !== false,
  );
  return html`<dl class="facts">
    ${given.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;
}
