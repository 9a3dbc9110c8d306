import { errorOf } from '../shared/api.js';
import { Refusal } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { mistake } from './confirm.js';
import { Offers } from './offers.js';

/** @typedef {{ model: string, duration: string, resolution: string, more: string }} Written */

const resolutions = ['480p', '720p', '1080p', '4k'];

/**
 * A form for a dry run, in which the gateway explains what it would do with the request. Parameters without a field of
 * their own are entered as JSON.
 *
 * @template Answer
 * @param {{
 *   title: string, button: string, models: readonly string[], ask: (request: unknown) => Promise<Answer>,
 *   show: (answer: Answer) => unknown,
 * }} props
 */
export function AskRequest({ title, button, models, ask, show }) {
  const [written, setWritten] = useState(
    /** @type {Written} */ ({ model: '', duration: '', resolution: '', more: '' }),
  );
  const [answer, setAnswer] = useState(/** @type {Answer | undefined} */ (undefined));
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));

  /** @param {SubmitEvent} event */
  async function send(event) {
    event.preventDefault();
    try {
      setAnswer(await ask(requestOf(written)));
      setError(undefined);
    } catch (thrown) {
      setAnswer(undefined);
      setError(errorOf(thrown));
    }
  }

  /** @param {keyof Written} name */
  const field = (name) => ({
    name,
    autocomplete: 'off',
    value: written[name],
    onInput: (/** @type {Event & { currentTarget: HTMLInputElement | HTMLTextAreaElement }} */ event) =>
      setWritten({ ...written, [name]: event.currentTarget.value }),
  });

  return html`<section aria-label=${title}>
    <h2>${title}</h2>
    <form onSubmit=${send}>
      <${Offers} id="asked-models" offers=${models.map((value) => ({ value }))} />
      <${Offers} id="asked-resolutions" offers=${resolutions.map((value) => ({ value }))} />
      <div class="row fields">
        <label class="field">
          <span class="small soft">Model</span>
          <input ...${field('model')} required list="asked-models" size="20" />
        </label>
        <label class="field">
          <span class="small soft">Seconds</span>
          <input ...${field('duration')} inputmode="numeric" pattern="-1|\\d+" size="5" />
        </label>
        <label class="field">
          <span class="small soft">Resolution</span>
          <input ...${field('resolution')} list="asked-resolutions" size="9" />
        </label>
        <button>${button}</button>
      </div>
      <details>
        <summary>More fields, as JSON</summary>
        <textarea
          ...${field('more')}
          class="mono"
          aria-label="More fields, as JSON"
          spellcheck="false"
          placeholder='{"ratio": "16:9"}'
        ></textarea>
      </details>
    </form>
    <div class="answer">
      ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
      ${answer === undefined ? null : show(answer)}
    </div>
  </section>`;
}

/** @param {Written} written */
function requestOf({ model, duration, resolution, more }) {
  return {
    ...parsed(more),
    model: model.trim(),
    ...(duration.trim() === '' ? {} : { duration: Number(duration) }),
    ...(resolution.trim() === '' ? {} : { resolution: resolution.trim() }),
  };
}

/**
 * @param {string} json
 * @returns {object}
 */
function parsed(json) {
  if (json.trim() === '') return {};
  try {
    /** @type {unknown} */
    const value = JSON.parse(json);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // The message below also covers invalid JSON.
  }
  throw mistake('more', 'The further fields are not a JSON object, such as {"ratio": "16:9"}.');
}
