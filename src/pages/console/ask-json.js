import { errorOf } from '../shared/api.js';
import { Refusal } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';

/**
 * @template Answer
 * @param {{
 *   title: string, label: string, button: string, first: string, ask: (request: unknown) => Promise<Answer>,
 *   show: (answer: Answer) => unknown,
 * }} props
 */
export function AskJson({ title, label, button, first, ask, show }) {
  const [request, setRequest] = useState(first);
  const [answer, setAnswer] = useState(/** @type {Answer | undefined} */ (undefined));
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));

  /** @param {SubmitEvent} event */
  async function send(event) {
    event.preventDefault();
    try {
      setAnswer(await ask(JSON.parse(request)));
      setError(undefined);
    } catch (thrown) {
      setAnswer(undefined);
      setError(errorOf(thrown));
    }
  }

  return html`<section>
    <h2>${title}</h2>
    <form class="search" onSubmit=${send}>
      <input
        aria-label=${label}
        class="mono"
        spellcheck="false"
        value=${request}
        onInput=${(/** @type {Event & { currentTarget: HTMLInputElement }} */ event) => setRequest(event.currentTarget.value)}
      />
      <button>${button}</button>
    </form>
    <div class="answer">
      ${error && html`<p class="notice bad" role="alert"><${Refusal} error=${error} /></p>`}
      ${answer === undefined ? null : show(answer)}
    </div>
  </section>`;
}
