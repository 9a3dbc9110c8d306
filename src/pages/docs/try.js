import { errorOf } from '../shared/api.js';
import { html, useEffect, useRef, useState } from '../shared/preact.js';
import { root } from '../shared/root.js';
import { createSession } from '../shared/session.js';
import { addressOf, answerText } from './request.js';

/** /account and /console use the same sessions, so a user who is signed in there is also signed in here. */
const sessions = { apiKey: createSession('mediary.key'), adminToken: createSession('mediary.operator') };

/** @param {string} scheme */
function sessionOf(scheme) {
  return scheme === 'adminToken' ? sessions.adminToken : sessions.apiKey;
}

/** @typedef {{ status: string, ms: number, text: string }} Answer */

/** @param {{ tried: import('./request.js').Tried }} props */
export function Try({ tried }) {
  const [values, setValues] = useState(/** @type {Record<string, string>} */ ({}));
  const [body, setBody] = useState(tried.body === undefined ? '' : JSON.stringify(tried.body, null, 2));
  const [answer, setAnswer] = useState(/** @type {Answer | undefined} */ (undefined));
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const shown = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => shown.current?.scrollIntoView({ block: 'nearest' }), [answer]);

  /** @param {SubmitEvent} event */
  async function submit(event) {
    event.preventDefault();
    setBusy(true);
    setProblem('');
    setAnswer(undefined);
    try {
      setAnswer(await send(tried, values, body));
    } catch (thrown) {
      setProblem(`The gateway does not respond: ${errorOf(thrown).message}`);
    }
    setBusy(false);
  }

  return html`<form class="tried" onSubmit=${submit}>
    ${tried.scheme !== '' && html`<${Credential} scheme=${tried.scheme} />`}
    ${tried.parameters.map(
      (parameter) =>
        html`<${ParameterInput}
          parameter=${parameter}
          value=${values[parameter.name] ?? ''}
          onChange=${(/** @type {string} */ value) => setValues({ ...values, [parameter.name]: value })}
        />`,
    )}
    ${
      tried.body !== undefined &&
      html`<label>
        Body
        <textarea
          spellcheck="false"
          value=${body}
          onInput=${(/** @type {InputEvent & { currentTarget: HTMLTextAreaElement }} */ event) =>
            setBody(event.currentTarget.value)}
        ></textarea>
      </label>`
    }
    <button class="main" disabled=${isBusy}>Send the request</button>
    <div role="status">
      ${isBusy && html`<p class="soft">Waiting for the response…</p>`}
      ${answer && html`<p><b>${answer.status}</b> <span class="soft">after ${answer.ms} ms</span></p>`}
    </div>
    ${answer && html`<pre tabindex="0" class="answer" ref=${shown}><code>${answer.text}</code></pre>`}
    ${problem !== '' && html`<p class="notice bad" role="alert">${problem}</p>`}
  </form>`;
}

/** @typedef {Event & { currentTarget: HTMLInputElement }} InputChange */

/**
 * All requests with this scheme use the credential until the tab is closed.
 *
 * @param {{ scheme: string }} props
 */
function Credential({ scheme }) {
  const session = sessionOf(scheme);
  const [token, setToken] = useState(session.token() ?? '');
  return html`<label>
    ${scheme === 'adminToken' ? 'Operator’s token' : 'Your API key'}
    <input
      type="password"
      autocomplete="off"
      required
      value=${token}
      onInput=${(/** @type {InputChange} */ event) => {
        const typed = event.currentTarget.value.trim();
        setToken(typed);
        if (typed === '') session.signOut();
        else session.signIn(typed);
      }}
    />
  </label>`;
}

/** @param {{ parameter: import('./request.js').Parameter, value: string, onChange: (value: string) => void }} props */
function ParameterInput({ parameter: { name, isRequired, options }, value, onChange }) {
  const change = (/** @type {InputChange} */ event) => onChange(event.currentTarget.value);
  const choices = options.filter((option) => option !== null);
  return html`<label>
    ${name} ${!isRequired && html`<span class="small soft">optional</span>`}
    ${
      choices.length > 0
        ? html`<select value=${value} required=${isRequired} onChange=${change}>
            <option value=""></option>
            ${choices.map((option) => html`<option value=${option}>${option}</option>`)}
          </select>`
        : html`<input value=${value} required=${isRequired} onInput=${change} />`
    }
  </label>`;
}

/**
 * @param {import('./request.js').Tried} tried
 * @param {Readonly<Record<string, string>>} values
 * @param {string} body
 * @returns {Promise<Answer>}
 */
async function send(tried, values, body) {
  const { path, headers } = addressOf(tried, values);
  const token = tried.scheme === '' ? undefined : sessionOf(tried.scheme).token();
  const from = performance.now();
  const response = await fetch(new URL(path.slice(1), root), {
    method: tried.method,
    cache: 'no-store',
    credentials: 'omit',
    headers: {
      'x-mediary-client': 'docs',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(tried.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(tried.body === undefined ? {} : { body }),
  });
  const bytes = await response.arrayBuffer();
  return {
    status: `${response.status} ${response.statusText}`.trim(),
    ms: Math.round(performance.now() - from),
    text: answerText(response.headers.get('content-type') ?? '', bytes),
  };
}
