import { Choice } from '../shared/choice.js';
import { useVersions } from '../shared/live.js';
import { html, useLayoutEffect, useState } from '../shared/preact.js';
import { classNames, reasonNames } from './names.js';
import { Offers, useAccountOffers, useKeyOffers } from './offers.js';
import { changeQuery, goTo, linkTo } from './router.js';
import { Views } from './views.js';

/** @typedef {readonly { name: string, count: number }[]} Counts */
/** @typedef {{ models: Counts, channels: Counts, classes: Counts, attention: Counts }} Counted */

const countedPath = '/admin/v1/task-filters';

const states = [
  ['', 'All'],
  ['attention', 'Needs an operator'],
  ['pending', 'Pending'],
  ['submitted', 'Submitted'],
  ['running', 'Running'],
  ['succeeded', 'Succeeded'],
  ['failed', 'Failed'],
  ['callback_failed', 'Callback abandoned'],
];

const channelFields = [
  ['channel', 'Channel'],
  ['waiting_for', 'Waits for channel'],
];

export const spans = [
  ['', 'Any time'],
  ['1', 'Last hour'],
  ['3', 'Last 3 hours'],
  ['24', 'Last day'],
  ['168', 'Last week'],
];

/**
 * @param {{
 *   api: import('./types.d.ts').Api, place: import('./router.js').Place, searchRef: { current: HTMLInputElement | null },
 *   overview: import('./types.d.ts').Overview,
 * }} props
 */
export function Filters({ api, place, searchRef, overview }) {
  const [isPicking, setPicking] = useState(false);
  /**
   * The counts are loaded when the operator first focuses a filter. The filters also work without them.
   *
   * @type {Counted | undefined}
   */
  const counted = useVersions(countedPath, isPicking ? '' : undefined, (signal) =>
    api.get(countedPath, signal),
  ).data;
  const wantsFocus = place.query.has('focus');
  // Focus before the page is painted, so that no early key press is lost.
  useLayoutEffect(() => {
    if (wantsFocus) searchRef.current?.focus();
  }, [wantsFocus]);
  const value = (/** @type {string} */ name) => place.query.get(name) ?? '';
  /** @param {string} name */
  const set = (name) => (/** @type {string} */ given) =>
    changeQuery(place, {
      ...without(place.query, name, given),
      [name]: given.trim(),
      after: undefined,
      find: undefined,
    });
  return html`<div class="filters">
    <${Search} find=${value('find')} searchRef=${searchRef} />
    <div class="tabs" role="group" aria-label="State">
      ${states.map(
        ([name = '', title]) =>
          html`<button aria-pressed=${value('state') === name} onClick=${() => set('state')(name)}>
            ${title}${countOf(name, overview)}
          </button>`,
      )}
    </div>
    <div class="row fields" onFocusIn=${() => setPicking(true)}>
      <${Choice}
        label="Reason"
        value=${value('attention')}
        onChange=${set('attention')}
        options=${options(reasonNames, counted?.attention)}
      />
      <${Choice}
        label="Failure"
        value=${value('class')}
        onChange=${set('class')}
        options=${options(classNames, counted?.classes)}
      />
      <${Choice} label="Created" value=${value('hours')} onChange=${set('hours')} options=${spans} />
      <${Choice} label="Ended" value=${value('ended')} onChange=${set('ended')} options=${spans} />
      <${Names} api=${api} value=${value} set=${set} counted=${counted} />
    </div>
    <${Views} query=${place.query} />
  </div>`;
}

/**
 * @param {{
 *   api: import('./types.d.ts').Api, value: (name: string) => string,
 *   set: (name: string) => (given: string) => void, counted: Counted | undefined,
 * }} props
 */
function Names({ api, value, set, counted }) {
  const [focused, setFocused] = useState('');
  const accounts = useAccountOffers(api, focused === 'Account');
  const keys = useKeyOffers(api, { isWanted: focused === 'Key', account: value('account') });
  return html`<${Text}
      label="Account"
      value=${value('account')}
      onChange=${set('account')}
      offers=${accounts}
      onFocus=${setFocused}
    />
    <${Text} label="Key" value=${value('key')} onChange=${set('key')} offers=${keys} onFocus=${setFocused} />
    <${Text}
      label="Model"
      value=${value('model')}
      onChange=${set('model')}
      offers=${weekly(counted?.models)}
    />
    ${channelFields.map(
      ([name = '', label]) =>
        html`<${Text}
          key=${name}
          label=${label}
          value=${value(name)}
          onChange=${set(name)}
          offers=${weekly(counted?.channels)}
        />`,
    )}`;
}

/**
 * @param {string} name
 * @param {import('./types.d.ts').Overview} overview
 */
function countOf(name, { attention, callbacks }) {
  const counted =
    name === 'attention'
      ? attention
      : callbacks.filter(({ state }) => name === 'callback_failed' && state === 'abandoned');
  const count = counted.reduce((sum, one) => sum + one.count, 0);
  return count === 0 ? '' : ` (${count.toLocaleString('en')})`;
}

/**
 * @param {URLSearchParams} query
 * @param {string} name
 * @param {string} given
 * @returns {Record<string, undefined>}
 */
function without(query, name, given) {
  if (name !== 'ended') return goesWithEnd(name, given) ? {} : { ended: undefined };
  const others = [...query].filter(([other, value]) => given !== '' && !goesWithEnd(other, value));
  return Object.fromEntries(others.map(([other]) => [other, undefined]));
}

/**
 * Returns true if the filter can be combined with an end time. Choosing any other filter clears the end time, and vice
 * versa.
 *
 * @param {string} name
 * @param {string} given
 */
function goesWithEnd(name, given) {
  return name === 'class' || (name === 'state' && ['', 'succeeded', 'failed'].includes(given));
}

/** @param {{ find: string, searchRef: { current: HTMLInputElement | null } }} props */
function Search({ find, searchRef }) {
  return html`<form
    role="search"
    class="search"
    onSubmit=${(/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      const id = searchRef.current?.value.trim() ?? '';
      // Remove the focus from the field, so that keys such as `j` move through the results.
      searchRef.current?.blur();
      goTo(linkTo(['tasks'], { find: id }));
    }}
  >
    <label class="hidden-text" for="find">Find by part of an id, a name or words from an error</label>
    <input
      id="find"
      type="search"
      ref=${searchRef}
      key=${find}
      defaultValue=${find}
      placeholder="Part of an id, account, key, model, failure (press /)"
    />
    <button>Find</button>
  </form>`;
}

/** @param {Record<string, string>} names @param {Counts | undefined} counts */
function options(names, counts) {
  const all = Object.entries(names).map(([name, title]) => {
    const count = counts?.find((one) => one.name === name)?.count ?? 0;
    return [name, count === 0 ? title : `${title} (${count.toLocaleString('en')})`];
  });
  return [['', 'Any'], ...all];
}

/**
 * @param {{
 *   label: string, value: string, onChange: (value: string) => void,
 *   offers?: readonly import('./offers.js').Offer[], onFocus?: (label: string) => void,
 * }} props `onChange`: called when the entry is complete. `offers`: suggestions.
 */
export function Text({ label, value, onChange, offers = [], onFocus }) {
  const [written, setWritten] = useState(value);
  useLayoutEffect(() => setWritten(value), [value]);
  return html`<label class="field">
    <span class="small soft">${label}</span>
    <input
      size="9"
      aria-label=${label}
      list=${offers.length === 0 ? undefined : `offers-${label}`}
      value=${written}
      onFocus=${() => onFocus?.(label)}
      onInput=${(/** @type {Event & { currentTarget: HTMLInputElement }} */ event) => setWritten(event.currentTarget.value)}
      onChange=${() => onChange(written)}
    />
    ${offers.length > 0 && html`<${Offers} id=${`offers-${label}`} offers=${offers} />`}
  </label>`;
}

/** @param {Counts} [counts] */
function weekly(counts = []) {
  return counts.map(({ name, count }) => ({ value: name, title: `${count.toLocaleString('en')} in a week` }));
}
