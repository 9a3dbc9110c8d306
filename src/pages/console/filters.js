import { html, useEffect, useLayoutEffect, useState } from '../shared/preact.js';
import { classNames, reasonNames } from './names.js';
import { changeQuery, goTo, linkTo } from './router.js';

const states = [
  ['', 'All'],
  ['attention', 'Needs a person'],
  ['pending', 'Pending'],
  ['submitted', 'Submitted'],
  ['running', 'Running'],
  ['succeeded', 'Succeeded'],
  ['failed', 'Failed'],
  ['callback_failed', 'Callback abandoned'],
];

export const spans = [
  ['', 'Any time'],
  ['1', 'Last hour'],
  ['3', 'Last 3 hours'],
  ['24', 'Last day'],
  ['168', 'Last week'],
];

/**
 * @param {{ place: import('./router.js').Place, searchRef: { current: HTMLInputElement | null } }} props
 */
export function Filters({ place, searchRef }) {
  const wantsFocus = place.query.has('focus');
  // Before the field is seen: what is typed at once must not be lost.
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
            ${title}
          </button>`,
      )}
    </div>
    <div class="row fields">
      <${Choice}
        label="Reason"
        value=${value('attention')}
        onChange=${set('attention')}
        options=${options(reasonNames)}
      />
      <${Choice}
        label="Failure"
        value=${value('class')}
        onChange=${set('class')}
        options=${options(classNames)}
      />
      <${Choice} label="Created" value=${value('hours')} onChange=${set('hours')} options=${spans} />
      <${Choice} label="Ended" value=${value('ended')} onChange=${set('ended')} options=${spans} />
      <${Text} label="Account" value=${value('account')} onChange=${set('account')} />
      <${Text} label="Key" value=${value('key')} onChange=${set('key')} />
      <${Text} label="Model" value=${value('model')} onChange=${set('model')} />
      <${Text} label="Channel" value=${value('channel')} onChange=${set('channel')} />
    </div>
  </div>`;
}

/**
 * What does not go together with this filter.
 *
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
 * Tasks are found by the time of their end together with these only: other filters end where one begins.
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
      // Single keys move through what is found.
      searchRef.current?.blur();
      goTo(linkTo(['tasks'], { find: id }));
    }}
  >
    <label class="hidden-text" for="find">Find by any id</label>
    <input
      id="find"
      type="search"
      ref=${searchRef}
      key=${find}
      defaultValue=${find}
      placeholder="Id of a task, request, upstream’s job or marker   /"
    />
    <button>Find</button>
  </form>`;
}

/** @param {Record<string, string>} names */
function options(names) {
  return [['', 'Any'], ...Object.entries(names)];
}

/**
 * @param {{
 *   label: string, value: string, options: readonly (readonly string[])[], onChange: (value: string) => void, isFirst?: boolean,
 * }} props `isFirst` puts the focus here when the dialog opens.
 */
export function Choice({ label, value, options: given, onChange, isFirst = false }) {
  return html`<label class="field">
    <span class="small soft">${label}</span>
    <select
      aria-label=${label}
      autofocus=${isFirst}
      value=${value}
      onChange=${(/** @type {Event & { currentTarget: HTMLSelectElement }} */ event) => onChange(event.currentTarget.value)}
    >
      ${given.map(([name, title]) => html`<option value=${name} selected=${name === value}>${title}</option>`)}
    </select>
  </label>`;
}

/** @param {{ label: string, value: string, onChange: (value: string) => void }} props `onChange`: when it is complete. */
export function Text({ label, value, onChange }) {
  const [written, setWritten] = useState(value);
  useEffect(() => setWritten(value), [value]);
  return html`<label class="field">
    <span class="small soft">${label}</span>
    <input
      size="9"
      value=${written}
      onInput=${(/** @type {Event & { currentTarget: HTMLInputElement }} */ event) => setWritten(event.currentTarget.value)}
      onChange=${() => onChange(written)}
    />
  </label>`;
}
