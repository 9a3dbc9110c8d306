import { Choice } from '../shared/choice.js';
import { errorOf } from '../shared/api.js';
import { Dialog, hold } from '../shared/dialog.js';
import { pointerTo } from '../shared/pointer.js';
import { html, useState } from '../shared/preact.js';
import { Mistake } from './confirm.js';
import { lineText } from './price-lines.js';

/** @typedef {import('./types.d.ts').ConfigDraft} Draft */

/** Prices by the index of their line. Null removes the line. @typedef {Record<string, string | null>} Written */

/**
 * @param {{
 *   draft: Draft, currency: string, edit: (change: object, revision: number) => Promise<Draft>,
 *   onEntry: (pointer: string) => void, onClose: () => void,
 * }} props `edit` resolves when `draft` contains the change. `onEntry` opens the form of a new line.
 */
export function PriceForm({ draft, currency, edit, onEntry, onClose }) {
  const models = draft.models.filter(({ lines }) => lines.length > 0);
  const [id, setId] = useState(models[0]?.id ?? '');
  const [typed, setTyped] = useState({ revision: draft.revision, prices: /** @type {Written} */ ({}) });
  // Lines are identified by index, and another edit may have moved them, so prices that were typed for an earlier
  // revision are discarded.
  const written = typed.revision === draft.revision ? typed.prices : {};
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  const lines = linesOf(draft, id);
  const place = pointerTo('models', id, 'price', 'lines');
  const values = valuesOf(place, lines, written);
  const isChanged = Object.keys(values).length > 0;

  async function save() {
    if (!isChanged) return draft;
    return edit({ set: values }, draft.revision);
  }

  /** @param {Written} prices */
  function setWritten(prices) {
    setTyped({ revision: draft.revision, prices });
  }

  async function add() {
    const saved = await save();
    await edit({ insert: { pointer: place } }, saved.revision);
    onEntry(`${place}/${linesOf(saved, id).length}`);
  }

  /** @param {() => Promise<unknown>} act */
  async function attempt(act) {
    try {
      await act();
    } catch (thrown) {
      setError(errorOf(thrown));
    }
  }

  const apply = () => attempt(() => save().then(onClose));

  return html`<${Dialog} title="Change a price" onClose=${onClose}>
    <form onSubmit=${hold}>
      ${models.length === 0 && html`<p class="soft">The draft has no model with a price.</p>`}
      ${
        models.length > 0 &&
        html`<${Choice}
          label="Model"
          value=${id}
          options=${models.map((model) => [model.id, model.id])}
          onChange=${(/** @type {string} */ chosen) => {
            setId(chosen);
            setWritten({});
          }}
        />`
      }
      <${Lines} key=${id} lines=${lines} currency=${currency} written=${written} onChange=${setWritten} />
      ${models.length > 0 && html`<button type="button" onClick=${() => void attempt(add)}>Add a line</button>`}
      <p class="notice">
        This changes only the draft. Before you publish it, you can see what it would have charged for the
        last tasks.
      </p>
      <${Mistake} error=${error} others=${[]} />
      <div class="row ends">
        <button type="button" class="main" disabled=${!isChanged} onClick=${apply}>Change</button>
      </div>
    </form>
  <//>`;
}

/** @param {Draft} draft @param {string} id */
function linesOf(draft, id) {
  return draft.models.find((model) => model.id === id)?.lines ?? [];
}

/**
 * @param {{
 *   lines: Draft['models'][number]['lines'], currency: string, written: Written, onChange: (written: Written) => void,
 * }} props
 */
function Lines({ lines, currency, written, onChange }) {
  return lines.map(
    (line, at) =>
      html`<${Line}
        key=${at}
        label=${`${currency} for ${lineText(line)}`}
        price=${line.price}
        written=${written[at]}
        onChange=${(/** @type {string | null} */ price) => onChange({ ...written, [at]: price })}
      />`,
  );
}

/**
 * @param {{
 *   label: string, price: string, written: string | null | undefined, onChange: (price: string | null) => void,
 * }} props
 */
function Line({ label, price, written, onChange }) {
  const isRemoved = written === null;
  return html`<div class="row line">
    <label class="stacked">
      ${label}
      <input
        inputmode="decimal"
        disabled=${isRemoved}
        value=${written ?? price}
        onInput=${(/** @type {Event & { currentTarget: HTMLInputElement }} */ event) =>
          onChange(event.currentTarget.value)}
      />
    </label>
    <button
      type="button"
      aria-label=${`${isRemoved ? 'Keep' : 'Remove'}: ${label}`}
      onClick=${() => onChange(isRemoved ? price : null)}
    >
      ${isRemoved ? 'Keep' : 'Remove'}
    </button>
  </div>`;
}

/**
 * Returns the changes by JSON pointer. Removals come last and start from the end, because each one shifts the lines
 * after it.
 *
 * @param {string} place
 * @param {Draft['models'][number]['lines']} lines
 * @param {Written} written
 */
function valuesOf(place, lines, written) {
  /** @type {[string, string | null][]} */
  const prices = lines.flatMap((line, at) => {
    const price = written[at]?.trim();
    return price === undefined || price === line.price ? [] : [[`${place}/${at}/price`, price]];
  });
  /** @type {[string, string | null][]} */
  const removed = lines.flatMap((_, at) => (written[at] === null ? [[`${place}/${at}`, null]] : []));
  return Object.fromEntries([...prices, ...removed.toReversed()]);
}
