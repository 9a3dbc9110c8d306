/** The question: what can this model make of my words, and what does it cost? */
import { ApiError, errorOf } from '../shared/api.js';
import { money } from '../shared/format.js';
import { useLive } from '../shared/live.js';
import { LiveState, Refusal } from '../shared/parts.js';
import { html, useEffect, useRef, useState } from '../shared/preact.js';
import { root } from '../shared/root.js';
import { Code } from './code-view.js';
import { FieldInput, MediaInput } from './inputs.js';
import { Results } from './media.js';
import { fieldsOf, mediaMax, requestOf } from './request.js';
import { TaskView } from './task.js';

/** @typedef {import('./types.js').Model} Model */
/** @typedef {{ id?: string, data?: import('./types.js').Task['data'] }} Answer */
/** @typedef {{ prompt: string, values: Record<string, string | boolean>, media: Record<string, string[]> }} Entered */

const estimateAfterMs = 400;
/** A video request may have a megabyte; base64 makes a third more of a file. */
const fileBytesMax = { video: 700_000, image: 10_000_000 };
/** Where the gateway stores nothing, an image model answers when the image is there. */
const imageAnswerMs = 600_000;

/** @typedef {{ kind: string, answer: Answer }} Made */

/** What was made last, while the tab is open: whoever leaves the page finds it again. */
let last = { api: /** @type {unknown} */ (undefined), made: /** @type {Made | undefined} */ (undefined) };

/** @param {{ api: import('../shared/api.js').Api, currency: string, onSpent: () => void }} props */
export function Playground({ api, currency, onSpent }) {
  /** @type {import('../shared/live.js').Live<{ data: Model[] }>} */
  const live = useLive('models', (signal) => api.get('/v1/models', signal), 0);
  const [id, setId] = useState('');
  const models = live.data?.data ?? [];
  const model = models.find((one) => one.id === id) ?? models[0];
  return html`<main class="page">
    <h1>Playground</h1>
    <${LiveState} live=${live} />
    ${live.data && models.length === 0 && html`<p class="soft">This key may use no model.</p>`}
    ${model && html`<${Bench} key=${model.kind} api=${api} models=${models} model=${model} choose=${setId} currency=${currency} onSpent=${onSpent} />`}
  </main>`;
}

/**
 * @param {{
 *   api: import('../shared/api.js').Api, models: Model[], model: Model, choose: (id: string) => void,
 *   currency: string, onSpent: () => void,
 * }} props
 */
function Bench({ api, models, model, choose, currency, onSpent }) {
  /** @type {Entered} */
  const empty = { prompt: '', values: {}, media: {} };
  const [entered, setEntered] = useState(empty);
  const [made, setMade] = useState(last.api === api ? last.made : undefined);
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  const [isBusy, setBusy] = useState(false);
  const asked = requestOf(model, entered);
  const create = useCreate(api);

  /** @param {SubmitEvent} event */
  async function submit(event) {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      last = { api, made: { kind: model.kind, answer: await create(asked) } };
      setMade(last.made);
    } catch (thrown) {
      setError(errorOf(thrown));
    }
    setBusy(false);
    onSpent();
  }

  return html`<div class="columns">
      <form onSubmit=${submit}>
        <${ModelChoice} models=${models} model=${model} choose=${choose} />
        <${Inputs} api=${api} model=${model} entered=${entered} setEntered=${setEntered} />
        <${Estimate} api=${api} model=${model} asked=${asked} hasPrompt=${entered.prompt.trim() !== ''} />
        <button class="main" disabled=${isBusy || entered.prompt.trim() === ''}>
          ${isBusy ? 'Waiting for the answer…' : `Make the ${model.kind}`}
        </button>
      </form>
      <section aria-label="Result">
        ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
        ${made === undefined && !error && html`<p class="soft">The result appears here.</p>`}
        ${made && html`<${Outcome} api=${api} made=${made} currency=${currency} onEnded=${onSpent} />`}
      </section>
    </div>
    <${Code} asked=${{ origin: root.slice(0, -1), method: 'POST', ...asked }} />`;
}

/**
 * Creates what was asked for, once: a request whose answer was lost is repeated under the key that it had.
 *
 * @param {import('../shared/api.js').Api} api
 */
function useCreate(api) {
  const unanswered = useRef({ text: '', key: '' });

  /**
   * @param {{ path: string, body: Record<string, unknown> }} asked
   * @returns {Promise<Answer>}
   */
  async function create({ path, body }) {
    const text = JSON.stringify([path, body]);
    if (unanswered.current.text !== text) unanswered.current = { text, key: newKey() };
    const headers = { 'idempotency-key': unanswered.current.key };
    try {
      const answer = await api.post(path, body, { answerMs: imageAnswerMs, headers });
      unanswered.current = { text: '', key: '' };
      return answer;
    } catch (error) {
      // Its answer is known: another try is another request.
      if (error instanceof ApiError && error.status === 400) unanswered.current = { text: '', key: '' };
      if (!(error instanceof ApiError) || !('async' in body) || error.param !== 'async') throw error;
      // It keeps no files to link to: the image is in the answer.
      const { async: _, ...atOnce } = body;
      return create({ path, body: { ...atOnce, response_format: 'b64_json' } });
    }
  }

  return create;
}

/** `crypto.randomUUID` exists on secure addresses only. */
function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}

/**
 * @param {{
 *   api: import('../shared/api.js').Api, model: Model, entered: Entered, setEntered: (entered: Entered) => void,
 * }} props
 */
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
          onChange=${(/** @type {string[]} */ addresses) =>
            setEntered({ ...entered, media: { ...media, [name]: addresses } })}
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
    <select
      value=${model.id}
      onChange=${(/** @type {Event & { currentTarget: HTMLSelectElement }} */ event) => choose(event.currentTarget.value)}
    >
      <optgroup label="Videos">${options('video')}</optgroup>
      <optgroup label="Images">${options('image')}</optgroup>
    </select>
  </label>`;
}

/**
 * What it would cost, asked for when nothing was entered for a moment.
 *
 * @param {{ api: import('../shared/api.js').Api, model: Model, asked: { path: string, body: Record<string, unknown> }, hasPrompt: boolean }} props
 */
function Estimate({ api, model, asked, hasPrompt }) {
  const [shown, setShown] = useState(
    /** @type {{ text: string, isRefusal: boolean } | undefined} */ (undefined),
  );
  const text = JSON.stringify(asked.body);
  useEffect(() => {
    if (!hasPrompt) {
      setShown(undefined);
      return undefined;
    }
    let isOver = false;
    const show = async () => {
      const next = await estimateOf(api, asked);
      if (!isOver) setShown(next);
    };
    const timer = setTimeout(() => {
      void show();
    }, estimateAfterMs);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [text, hasPrompt]);
  return html`<p class=${shown?.isRefusal === true ? 'notice warn' : 'soft'} role="status">
    ${shown?.text ?? `The estimate appears when there is a prompt. ${pricesOf(model)}`}
  </p>`;
}

/**
 * @param {import('../shared/api.js').Api} api
 * @param {{ path: string, body: Record<string, unknown> }} asked
 */
async function estimateOf(api, { path, body }) {
  // Edits have the estimate of generations.
  const estimate = `${path.replace('/edits', '/generations')}/estimate`;
  try {
    /** @type {{ at_least: string, at_most: string, expected?: string, hold: string, currency: string, warnings: string[] }} */
    const {
      at_least: least,
      at_most: most,
      expected,
      hold,
      currency,
      warnings,
    } = await api.post(estimate, body);
    const range = least === most ? money(most) : `${money(least)} to ${money(most)}`;
    const lately = expected === undefined || least === most ? '' : `About ${money(expected)}: `;
    const ignored = warnings.length === 0 ? '' : ` Not used by this model: ${warnings.join(', ')}.`;
    return {
      text: `${lately}${range} ${currency}, ${money(hold)} held.${ignored}`,
      isRefusal: false,
    };
  } catch (thrown) {
    return { text: errorOf(thrown).message, isRefusal: true };
  }
}

/** @param {Model} model */
function pricesOf({ pricing: { currency, lines } }) {
  const prices = lines.map(({ measure, when, price }) => {
    const conditions = Object.entries(when).map(([name, value]) => `${name} ${[value].flat().join(' or ')}`);
    return `${money(price)} per ${measure.replaceAll('_', ' ')}${conditions.length === 0 ? '' : ` for ${conditions.join(', ')}`}`;
  });
  return `In ${currency}: ${prices.join('; ')}.`;
}

/** @param {{ api: import('../shared/api.js').Api, made: Made, currency: string, onEnded: () => void }} props */
function Outcome({ api, made: { kind, answer }, currency, onEnded }) {
  if (typeof answer.id === 'string')
    return html`<${TaskView}
      api=${api}
      kind=${kind}
      id=${answer.id}
      currency=${currency}
      onEnded=${onEnded}
    />`;
  return html`<${Results} task=${{ object: 'image', data: answer.data ?? [] }} />`;
}
