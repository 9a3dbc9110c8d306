import { focused, html, useState } from '../shared/preact.js';
import { readKept, keep } from '../shared/kept.js';
import { linkTo } from './router.js';

/** @typedef {{ name: string, query: string }} View */

const place = 'mediary.views';
const viewsMax = 30;
const nameMax = 40;

/**
 * Views are stored in this browser.
 *
 * @param {{ query: URLSearchParams }} props
 */
export function Views({ query }) {
  const [views, setViews] = useState(/** @returns {readonly View[]} */ () => readKept(place, []));
  /** The view that the operator is naming. It is discarded when the filters change. */
  const [draft, setDraft] = useState(/** @type {View | undefined} */ (undefined));
  const current = currentOf(query);
  const name = draft?.query === current ? draft.name : undefined;
  /** @param {string} given */
  const setName = (given) => setDraft({ name: given, query: current });
  /** @param {readonly View[]} changed */
  const change = (changed) => {
    keep(place, changed);
    setViews(changed);
    setDraft(undefined);
  };
  const isKnown = views.some((view) => view.query === current);
  if (views.length === 0 && current === '') return null;
  return html`<div class="row views" role="group" aria-label="Saved views">
    ${views.map(
      (view) =>
        html`<a
          class="badge"
          aria-current=${view.query === current ? 'page' : undefined}
          href=${linkTo(['tasks'], Object.fromEntries(new URLSearchParams(view.query)))}
        >
          ${view.name}
        </a>`,
    )}
    ${
      isKnown &&
      html`<button class="plain" onClick=${() => change(views.filter((view) => view.query !== current))}>
        Forget this view
      </button>`
    }
    ${
      !isKnown &&
      current !== '' &&
      name === undefined &&
      html`<button class="plain" onClick=${() => setName('')}>Save this view</button>`
    }
    ${
      name !== undefined &&
      html`<form
        class="row"
        onSubmit=${(/** @type {SubmitEvent} */ event) => {
          event.preventDefault();
          const view = { name: name.trim(), query: current };
          if (view.name !== '')
            change([...views.filter((one) => one.name !== view.name), view].slice(-viewsMax));
        }}
      >
        <input
          aria-label="Name of the view"
          placeholder="Name"
          maxlength=${nameMax}
          ...${focused}
          value=${name}
          onInput=${(/** @type {Event & { currentTarget: HTMLInputElement }} */ event) => setName(event.currentTarget.value)}
        />
        <button>Save in this browser</button>
      </form>`
    }
  </div>`;
}

/** @param {URLSearchParams} query */
function currentOf(query) {
  const filters = new URLSearchParams(query);
  for (const other of ['after', 'focus', 'find']) filters.delete(other);
  filters.sort();
  return filters.toString();
}
