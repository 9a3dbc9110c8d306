import { shortAmounts } from '../shared/format.js';
import { html } from '../shared/preact.js';
import { findAct } from './act-fields.js';
import { linkTo } from './router.js';

/** @type {Readonly<Record<string, readonly [title: string, link: string]>>} */
const pages = {
  'gateway channels show': ['Channels', linkTo(['channels'])],
  'gateway nodes': ['Nodes', linkTo(['nodes'])],
  'gateway config reload': ['“Reload the configuration”', linkTo(['nodes'])],
  'gateway tasks list --needs-attention': ['Tasks', linkTo(['tasks'], { state: 'attention' })],
  'gateway tasks list --callback-failed': ['Tasks', linkTo(['tasks'], { state: 'callback_failed' })],
};

/**
 * Text between backticks becomes a link to a page, the title of an action, or code.
 *
 * @param {{ text: string }} props
 */
export function Sentence({ text }) {
  return shortAmounts(text)
    .split('`')
    .map((part, index) => (index % 2 === 1 ? partOf(part) : part));
}

/** @param {string} name */
function partOf(name) {
  const page = Object.hasOwn(pages, name) ? pages[name] : undefined;
  if (page !== undefined) return html`<a href=${page[1]}>${page[0]}</a>`;
  const act = findAct(name);
  return act === undefined ? html`<code>${name}</code>` : html`<strong>${act.title}</strong>`;
}
