import { errorOf } from '../shared/api.js';
import { counted } from '../shared/format.js';
import { useLive, useVersions } from '../shared/live.js';
import { LiveState, Refusal } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { root } from '../shared/root.js';
import { Code } from './code-view.js';
import { useCreate } from './create.js';
import { Estimate } from './estimate.js';
import { FieldInput, MediaInput } from './inputs.js';
import { Results } from './media.js';
import { enteredOf, fieldsOf, mediaMax, requestOf, templatesOf } from './request.js';
import { TaskView } from './task.js';

/** @typedef {import('./types.js').Model} Model */
/** @typedef {import('./request.js').Entered} Entered */
/** @typedef {Event & { currentTarget: HTMLSelectElement }} Chosen */

/** A video request is limited to a megabyte, and base64 makes a file a third larger. */
const fileBytesMax = { video: 700_000, image: 10_000_000 };

/** @typedef {{ model: string, kind: string, answer?: import('./create.js').Answer, error?: Error }} Made */

/** Kept outside the component, so that the results are still there when the user returns to this page. */
let last = { api: /** @type {unknown} */ (undefined), made: /** @type {Made[]} */ ([]) };

/** @type {Entered} */
const nothing = { prompt: '', values: {}, media: {} };

/**
 * @typedef {{ api: import('../shared/api.js').Api, onSpent: () => void }} Props
 * @param {Props & { again: string }} props `again`: the id of the task whose request to fill in, or empty.
 */
export function Playground({ api, onSpent, again }) {
  /** @type {import('../shared/live.js').Live<{ data: Model[] }>} */
  const live = useLive('models', (signal) => api.get('/v1/models', signal), 0);
  const path = `/v1/requests/${encodeURIComponent(again)}`;
  /** @type {import('../shared/live.js').Live<{ request: import('./types.js').StoredRequest | null }>} */
  const earlier = useVersions(path, again === '' ? undefined : again, (signal) => api.get(path, signal));
  const isReady = live.data !== undefined && (again === '' || earlier.data !== undefined);
  return html`<main class="page">
    <h1>Playground</h1>
    <${LiveState} live=${live} />
    ${again !== '' && html`<${LiveState} live=${earlier} />`}
    ${isReady && live.data?.data.length === 0 && html`<p class="soft">This key is not allowed to use any model.</p>`}
    ${isReady && html`<${Start} key=${again} models=${live.data?.data ?? []} request=${earlier.data?.request} props=${{ api, onSpent }} />`}
  </main>`;
}

/**
 * @param {{
 *   models: Model[], request: import('./types.js').StoredRequest | null | undefined, props: Props,
 * }} props
 */
function Start({ models, request, props }) {
  const [id, setId] = useState(request?.model ?? '');
  const model = models.find((one) => one.id === id) ?? models[0];
  if (model === undefined) return null;
  const isSameKind = request?.kind === model.kind;
  const { entered, missing } = request && isSameKind ? enteredOf(request) : { entered: nothing, missing: 0 };
  return html`${request === null && html`<p class="notice warn">The request of this task has been deleted.</p>`}
    ${request && request.model !== model.id && id === request.model && html`<p class="notice warn">This key is not allowed to use ${request.model}.</p>`}
    ${missing > 0 && html`<p class="notice warn">The request contained ${counted(missing, 'file')}. Add ${missing === 1 ? 'it' : 'them'} again.</p>`}
    <${Bench}
      key=${model.kind}
      ...${props}
      models=${models}
      model=${model}
      choose=${setId}
      first=${entered}
      isAgain=${request !== undefined}
    />`;
}

/**
 * @param {Props & {
 *   models: Model[], model: Model, choose: (id: string) => void, first: Entered, isAgain: boolean,
 * }} props
 */
function Bench({ api, models, model, choose, first, isAgain, onSpent }) {
  const { currency } = model.pricing;
  const [entered, setEntered] = useState(first);
  const [otherId, setOtherId] = useState('');
  const [made, setMade] = useState(last.api === api && !isAgain ? last.made : []);
  const [isBusy, setBusy] = useState(false);
  const other = models.find(({ id }) => id === otherId && id !== model.id);
  const asked = [model, ...(other ? [other] : [])].map((one) => ({ model: one, ...requestOf(one, entered) }));
  const create = useCreate(api);

  /** @param {SubmitEvent} event */
  async function submit(event) {
    event.preventDefault();
    setBusy(true);
    last = { api, made: await Promise.all(asked.map((one) => makeOne(one, create))) };
    setMade(last.made);
    setBusy(false);
    onSpent();
  }

  const hasPrompt = entered.prompt.trim() !== '';
  const isPair = asked.length > 1;
  return html`<div class=${made.length > 1 ? '' : 'columns'}>
      <form onSubmit=${submit}>
        <${ModelChoice} models=${models} model=${model} choose=${choose} />
        <${OtherChoice} models=${models} model=${model} other=${other} choose=${setOtherId} />
        <${Templates} model=${model} entered=${entered} setEntered=${setEntered} />
        <${Inputs} api=${api} model=${model} entered=${entered} setEntered=${setEntered} />
        <${Estimates} api=${api} asked=${asked} hasPrompt=${hasPrompt} />
        <button class="main" disabled=${isBusy || !hasPrompt}>
          ${isBusy ? 'Waiting for the response…' : `Make the ${model.kind}${isPair ? 's' : ''}`}
        </button>
      </form>
      <section aria-label="Result" class=${made.length > 1 ? 'columns below' : ''}>
        ${made.length === 0 && html`<p class="soft">The result appears here.</p>`}
        ${made.map(
          (one) =>
            html`<${Outcome}
              key=${one.model}
              api=${api}
              made=${one}
              isNamed=${made.length > 1}
              currency=${currency}
              onEnded=${onSpent}
            />`,
        )}
      </section>
    </div>
    ${asked.map(
      ({ model: { id }, path, body }) =>
        html`<${Code}
          key=${id}
          model=${id}
          asked=${{ origin: root.slice(0, -1), method: 'POST', path, body }}
        />`,
    )}`;
}

/**
 * @param {import('./create.js').Request & { model: Model }} asked
 * @param {ReturnType<typeof useCreate>} create
 * @returns {Promise<Made>}
 */
async function makeOne({ model: { id, kind }, ...request }, create) {
  try {
    return { model: id, kind, answer: await create(request) };
  } catch (thrown) {
    return { model: id, kind, error: errorOf(thrown) };
  }
}

/**
 * @param {{
 *   api: import('../shared/api.js').Api, asked: readonly (import('./create.js').Request & { model: Model })[],
 *   hasPrompt: boolean,
 * }} props
 */
function Estimates({ api, asked, hasPrompt }) {
  return asked.map(
    (one) =>
      html`<${Estimate}
        key=${one.model.id}
        api=${api}
        model=${one.model}
        asked=${one}
        hasPrompt=${hasPrompt}
        isNamed=${asked.length > 1}
      />`,
  );
}

/**
 * @typedef {{ model: Model, entered: Entered, setEntered: (entered: Entered | ((now: Entered) => Entered)) => void }} Filling
 * @param {Filling} props
 */
function Templates({ model, entered, setEntered }) {
  const templates = templatesOf(model);
  if (templates.length === 0) return null;
  return html`<div class="field row" role="group" aria-label="Templates">
    ${templates.map(
      ({ title, prompt, values }) =>
        html`<button
          type="button"
          onClick=${() =>
            setEntered({
              ...entered,
              values,
              prompt: entered.prompt.trim() === '' ? prompt : entered.prompt,
            })}
        >
          ${title}
        </button>`,
    )}
  </div>`;
}

/** @param {Filling & { api: import('../shared/api.js').Api }} props */
function Inputs({ api, model, entered, setEntered }) {
  const { prompt, values, media } = entered;
  return html`<label class="field">
      Prompt
      <textarea
        rows="4"
        required
        value=${prompt}
        onInput=${(/** @type {InputEvent & { currentTarget: HTMLTextAreaElement }} */ event) =>
          setEntered({ ...entered, prompt: event.currentTarget.value })}
      ></textarea>
    </label>
    <div class="fields">
      ${fieldsOf(model).map(
        (field) =>
          html`<${FieldInput}
            key=${field.name}
            field=${field}
            value=${values[field.name] ?? ''}
            onChange=${(/** @type {string | boolean} */ value) =>
              setEntered({ ...entered, values: { ...values, [field.name]: value } })}
          />`,
      )}
    </div>
    ${['images', 'videos', 'audios'].map(
      (name) =>
        html`<${MediaInput}
          key=${name}
          api=${api}
          name=${name}
          max=${mediaMax(model, name)}
          fileBytesMax=${fileBytesMax[model.kind]}
          addresses=${media[name] ?? []}
          onChange=${(/** @type {(addresses: readonly string[]) => readonly string[]} */ change) =>
            setEntered((now) => ({
              ...now,
              media: { ...now.media, [name]: change(now.media[name] ?? []) },
            }))}
        />`,
    )}`;
}

/** @param {{ models: Model[], model: Model, choose: (id: string) => void }} props */
function ModelChoice({ models, model, choose }) {
  /** @param {string} kind */
  const options = (kind) =>
    models
      .filter((one) => one.kind === kind)
      .map(({ id }) => html`<option value=${id} selected=${id === model.id}>${id}</option>`);
  return html`<label class="field">
    Model
    <select value=${model.id} onChange=${(/** @type {Chosen} */ event) => choose(event.currentTarget.value)}>
      <optgroup label="Videos">${options('video')}</optgroup>
      <optgroup label="Images">${options('image')}</optgroup>
    </select>
  </label>`;
}

/** @param {{ models: Model[], model: Model, other: Model | undefined, choose: (id: string) => void }} props */
function OtherChoice({ models, model, other, choose }) {
  const others = models.filter(({ id, kind }) => kind === model.kind && id !== model.id);
  if (others.length === 0) return null;
  return html`<label class="field">
    Compare with
    <select
      value=${other?.id ?? ''}
      onChange=${(/** @type {Chosen} */ event) => choose(event.currentTarget.value)}
    >
      <option value="">Nothing</option>
      ${others.map(({ id }) => html`<option value=${id} selected=${id === other?.id}>${id}</option>`)}
    </select>
  </label>`;
}

/**
 * @param {{
 *   api: import('../shared/api.js').Api, made: Made, isNamed: boolean, currency: string, onEnded: () => void,
 * }} props
 */
function Outcome({ api, made: { model, kind, answer, error }, isNamed, currency, onEnded }) {
  return html`<div>
    ${isNamed && html`<h2>${model}</h2>`}
    ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
    ${
      typeof answer?.id === 'string'
        ? html`<${TaskView}
            api=${api}
            kind=${kind}
            id=${answer.id}
            currency=${currency}
            onEnded=${onEnded}
          />`
        : answer && html`<${Results} task=${{ object: 'image', data: answer.data ?? [] }} />`
    }
  </div>`;
}
