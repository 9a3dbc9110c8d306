import { Label } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { Offers, useModelNames } from './offers.js';
import { ReasonDialog } from './reason-dialog.js';

/** @typedef {{ model: string, factor: string }} ModelFactor */
/** @typedef {Event & { currentTarget: HTMLInputElement }} Changed */

/** From 0 to 100, with at most six decimal places. */
const factorPattern = '(?:100(?:\\.0{1,6})?|\\d{1,2}(?:\\.\\d{1,6})?)';

/**
 * @param {{
 *   api: import('./types.d.ts').Api, account: import('./types.d.ts').Account,
 *   run: (body: { factor: string, models: readonly ModelFactor[], reason: string }) => Promise<unknown>,
 *   onSaved: () => Promise<void>, onClose: () => void,
 * }} props
 */
export function PriceFactors({ api, account: { id, price_factors: factors }, ...on }) {
  const [factor, setFactor] = useState(factors?.factor ?? '1');
  const [models, setModels] = useState(/** @type {readonly ModelFactor[]} */ (factors?.models ?? []));
  const read = () => ({
    factor: factor.trim(),
    models: models.map((one) => ({ model: one.model.trim(), factor: one.factor.trim() })),
  });

  return html`<${ReasonDialog}
    title=${`Prices ${id}`}
    button="Set the prices"
    effect="Within five seconds, holds and charges of new tasks are multiplied by the factor of their model. Tasks in flight keep the factor that was frozen with their hold."
    read=${read}
    ...${on}
  >
    <label class="stacked">
      <${Label} text="Factor for all prices (0.9: ten per cent less)" />
      <${Factor} value=${factor} onChange=${setFactor} isFirst />
    </label>
    <${Models} api=${api} models=${models} onChange=${setModels} />
  <//>`;
}

/**
 * @param {{
 *   api: import('./types.d.ts').Api, models: readonly ModelFactor[],
 *   onChange: (models: readonly ModelFactor[]) => void,
 * }} props
 */
function Models({ api, models, onChange }) {
  const { models: names } = useModelNames(api);
  const change = (/** @type {number} */ at, /** @type {Partial<ModelFactor>} */ part) =>
    onChange(models.map((before, index) => (index === at ? { ...before, ...part } : before)));
  return html`<${Offers} id="factor-models" offers=${names.map((value) => ({ value }))} />
    ${models.map(
      (one, at) =>
        html`<div class="row line" key=${at}>
          <input
            aria-label="Model"
            placeholder="Model"
            required
            autocomplete="off"
            list="factor-models"
            value=${one.model}
            onInput=${(/** @type {Changed} */ event) => change(at, { model: event.currentTarget.value })}
          />
          <${Factor}
            label=${`Factor for ${one.model || 'the model'}`}
            value=${one.factor}
            onChange=${(/** @type {string} */ value) => change(at, { factor: value })}
          />
          <button
            type="button"
            class="plain"
            onClick=${() => onChange(models.filter((_, index) => index !== at))}
          >
            Remove
          </button>
        </div>`,
    )}
    <p>
      <button type="button" class="plain" onClick=${() => onChange([...models, { model: '', factor: '' }])}>
        Add a factor for one model
      </button>
    </p>`;
}

/** @param {{ value: string, onChange: (value: string) => void, label?: string, isFirst?: boolean }} props */
function Factor({ value, onChange, label, isFirst = false }) {
  return html`<input
    class="number"
    aria-label=${label}
    inputmode="decimal"
    required
    autofocus=${isFirst}
    autocomplete="off"
    pattern=${factorPattern}
    title="From 0 to 100, with at most six decimal places"
    value=${value}
    onInput=${(/** @type {Changed} */ event) => onChange(event.currentTarget.value)}
  />`;
}
