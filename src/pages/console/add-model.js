import { Choice } from '../shared/choice.js';
import { errorOf } from '../shared/api.js';
import { Dialog, hold } from '../shared/dialog.js';
import { useLive } from '../shared/live.js';
import { Label, LiveState } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { Mistake, mistakeAt } from './confirm.js';
import { PriceLines } from './price-lines.js';

/** @typedef {import('./types.d.ts').CatalogueModel} CatalogueModel */
/** @typedef {import('./types.d.ts').ConfigDraft['channels'][number]} OwnChannel */
/** @typedef {{
 *   channel: string, model: string, apiKey: string, baseUrl: string, hasListedCost: boolean, markup: string,
 * }} Chosen `markup` is in per cent. */

const path = '/admin/v1/config/catalogue';
const draftPath = '/admin/v1/config/draft';

/** @type {Chosen} */
export const nothingChosen = {
  channel: '',
  model: '',
  apiKey: '',
  baseUrl: '',
  hasListedCost: true,
  markup: '',
};

/** @param {import('./types.d.ts').Api} api */
export function useCatalogue(api) {
  /** @type {import('../shared/live.js').Live<{ data: readonly CatalogueModel[] }>} */
  const live = useLive(path, (signal) => api.get(path, signal), 0);
  return live;
}

/**
 * @param {import('./types.d.ts').Api} api
 * @param {Chosen} chosen
 * @returns {Promise<import('./types.d.ts').ConfigDraft>}
 */
export async function addChosen(api, { channel, model, apiKey, baseUrl, hasListedCost, markup }) {
  /** @type {import('./types.d.ts').ConfigDraft} */
  const { revision } = await api.get(draftPath);
  return api.post(`${draftPath}/models`, {
    revision,
    channel,
    model,
    has_listed_cost: hasListedCost,
    // Send invalid input as text, so that the gateway rejects it. NaN would become null, which would mean that the
    // field is missing.
    ...(markup.trim() === ''
      ? {}
      : { markup_percent: Number.isNaN(Number(markup)) ? markup : Number(markup) }),
    ...(apiKey.trim() === '' ? {} : { api_key: apiKey.trim() }),
    ...(baseUrl.trim() === '' ? {} : { base_url: baseUrl.trim() }),
  });
}

/**
 * @param {{
 *   catalogue: readonly CatalogueModel[], own: readonly OwnChannel[], chosen: Chosen, error: Error | undefined,
 *   onChange: (chosen: Chosen) => void,
 * }} props
 */
export function UpstreamFields({ catalogue, own, chosen, error, onChange }) {
  const offered = new Map(catalogue.flatMap(({ channels }) => channels.map((one) => [one.id, one])));
  const isNew = own.every(({ id }) => id !== chosen.channel);
  const others = [...offered.values()].filter(({ id }) => own.every((one) => one.id !== id));
  return html`<${Choice}
      label="Who renders it"
      value=${chosen.channel}
      options=${[
        ['', 'Choose an upstream'],
        ...own.map(({ id }) => [id, `${id} (configured already)`]),
        ...others.map(({ id, base_url: url }) => [id, `${id}, at ${new URL(url).host}`]),
      ]}
      onChange=${(/** @type {string} */ channel) => onChange({ ...nothingChosen, channel })}
    />
    <${Mistake} name="channel" error=${error} />
    ${
      chosen.channel !== '' &&
      html`<${Input}
          name="api_key"
          label=${`The vendor’s key${isNew ? '' : ', if you want to replace it'} (encrypted immediately and never shown again)`}
          type="password"
          value=${chosen.apiKey}
          error=${error}
          onChange=${(/** @type {string} */ apiKey) => onChange({ ...chosen, apiKey })}
        />
        <${Input}
          name="base_url"
          label=${`Address (empty: ${isNew ? offered.get(chosen.channel)?.base_url : 'as it is'})`}
          value=${chosen.baseUrl}
          error=${error}
          onChange=${(/** @type {string} */ baseUrl) => onChange({ ...chosen, baseUrl })}
        />`
    }`;
}

/**
 * @param {{
 *   name: string, label: string, value: string, error: Error | undefined, type?: string, inputmode?: string,
 *   onChange: (value: string) => void,
 * }} props
 */
function Input({ name, label, value, error, type = 'text', inputmode, onChange }) {
  return html`<label class="stacked">
      <${Label} text=${label} />
      <input
        type=${type}
        inputmode=${inputmode}
        name=${name}
        autocomplete="off"
        aria-invalid=${mistakeAt(error, name) !== undefined}
        value=${value}
        onInput=${(/** @type {Event & { currentTarget: HTMLInputElement }} */ event) => onChange(event.currentTarget.value)}
      />
    </label>
    <${Mistake} name=${name} error=${error} />`;
}

/**
 * @param {{
 *   catalogue: readonly CatalogueModel[], own: readonly OwnChannel[], currency: string, chosen: Chosen,
 *   error: Error | undefined, onChange: (chosen: Chosen) => void,
 * }} props
 */
export function ModelFields({ catalogue, own, currency, chosen, error, onChange }) {
  const provider = own.find(({ id }) => id === chosen.channel)?.provider;
  const models = catalogue.filter(({ channels }) =>
    channels.some((one) => (provider === undefined ? one.id === chosen.channel : one.provider === provider)),
  );
  const model = models.find(({ id }) => id === chosen.model);
  return html`<${Choice}
      label="Model"
      value=${chosen.model}
      options=${[['', 'Choose a model'], ...models.map(({ id, kind }) => [id, `${id} (${kind})`])]}
      onChange=${(/** @type {string} */ id) => onChange({ ...chosen, model: id })}
    />
    <${Mistake} name="model" error=${error} />
    ${
      model &&
      html`<p class="small soft">
          Prices in ${currency}, close to what the vendor lists. Check them: you can change each in the draft.
        </p>
        <${PriceLines} price=${model} />
        <${Input}
          name="markup_percent"
          label="Your markup in per cent (empty: you sell at these prices, without a margin)"
          inputmode="decimal"
          value=${chosen.markup}
          error=${error}
          onChange=${(/** @type {string} */ markup) => onChange({ ...chosen, markup })}
        />
        <label class="check">
          <input
            type="checkbox"
            checked=${chosen.hasListedCost}
            onChange=${() => onChange({ ...chosen, hasListedCost: !chosen.hasListedCost })}
          />
          The upstream bills these prices to you, so that costs and margins are known
        </label>`
    }`;
}

/**
 * @param {{
 *   api: import('./types.d.ts').Api, own: readonly OwnChannel[], currency: string,
 *   onSaved: () => Promise<void>, onClose: () => void,
 * }} props
 */
export function AddModel({ api, own, currency, onSaved, onClose }) {
  const live = useCatalogue(api);
  const [chosen, setChosen] = useState(nothingChosen);
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  const [isBusy, setBusy] = useState(false);

  async function add() {
    setBusy(true);
    try {
      await addChosen(api, chosen);
      await onSaved();
      onClose();
    } catch (thrown) {
      setError(errorOf(thrown));
      setBusy(false);
    }
  }

  const props = { catalogue: live.data?.data ?? [], own, currency, chosen, error, onChange: setChosen };
  return html`<${Dialog} title="Add a model from the catalogue" onClose=${onClose}>
    <form onSubmit=${hold}>
      <${LiveState} live=${live} />
      <${UpstreamFields} ...${props} />
      ${chosen.channel !== '' && html`<${ModelFields} ...${props} />`}
      <p class="notice">This changes only the draft. The model is not sold until the draft is published.</p>
      <${Mistake} error=${error} others=${['channel', 'model', 'api_key', 'base_url', 'markup_percent']} />
      <div class="row ends">
        <button
          type="button"
          class="main"
          disabled=${isBusy || chosen.model === ''}
          onClick=${() => void add()}
        >
          Add to the draft
        </button>
      </div>
    </form>
  <//>`;
}
