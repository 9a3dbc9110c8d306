import { html, useEffect } from '../shared/preact.js';
import { classNames, reasonNames } from './names.js';
import { linkTo } from './router.js';

/** @typedef {{ kind: 'account' | 'key' | 'model' | 'channel', id: string, name: string, account: string }} Other */
/** @typedef {{ kind: string, link: string, name: string, id?: string }} Hit */

const titles = { account: 'Accounts', key: 'Keys', model: 'Models', channel: 'Channels' };

/** @param {Other} other */
function linkOf({ kind, id }) {
  if (kind === 'account') return linkTo(['accounts', id]);
  if (kind === 'channel') return linkTo(['channels', id]);
  return linkTo(['tasks'], { [kind]: id });
}

/**
 * Also returns filters whose names contain the text.
 *
 * @param {readonly Other[]} others
 * @param {string} text
 * @returns {readonly Hit[]}
 */
export function hitsOf(others, text) {
  const found = others.map((other) => ({
    kind: titles[other.kind],
    link: linkOf(other),
    name: other.name === '' ? other.id : other.name,
    ...(other.name === other.id || other.name === '' ? {} : { id: other.id }),
  }));
  const reasons = matching(reasonNames, text).map(([attention, name]) => ({
    kind: 'Tasks that need an operator',
    link: linkTo(['tasks'], { attention }),
    name,
  }));
  const failures = matching(classNames, text).map(([failure, name]) => ({
    kind: 'Failed tasks',
    link: linkTo(['tasks'], { class: failure }),
    name,
  }));
  return [...found, ...reasons, ...failures];
}

const wordMin = 3;

/** @param {Record<string, string>} names @param {string} text */
function matching(names, text) {
  const asked = text.toLowerCase();
  if (asked.length < wordMin) return [];
  return Object.entries(names).filter(
    ([name, words]) => name.includes(asked.replaceAll(' ', '_')) || words.toLowerCase().includes(asked),
  );
}

/**
 * @param {{ hits: readonly Hit[], only: string | undefined }} props
 *   `only`: the link to the only result. Undefined if there are multiple results.
 */
export function Hits({ hits, only }) {
  useEffect(() => {
    if (only === undefined) return;
    history.replaceState(null, '', only);
    dispatchEvent(new HashChangeEvent('hashchange'));
  }, [only]);
  const kinds = [...new Set(hits.map(({ kind }) => kind))];
  return kinds.map(
    (kind) =>
      html`<section key=${kind} aria-label=${kind}>
        <h2>${kind}</h2>
        <ul class="hits">
          ${hits
            .filter((hit) => hit.kind === kind)
            .map(
              ({ link, name, id }) =>
                html`<li key=${link} class="opens">
                  <a href=${link}>${name}</a>
                  ${id !== undefined && html`<span class="mono soft small">${id}</span>`}
                </li>`,
            )}
        </ul>
      </section>`,
  );
}
