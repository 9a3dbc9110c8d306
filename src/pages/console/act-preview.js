import { counted, money, shortAmounts, sumMoney } from '../shared/format.js';
import { html, useLayoutEffect, useRef, useState } from '../shared/preact.js';
import { actNamed } from './act-fields.js';
import { Sentence } from './sentence.js';

/** @typedef {import('./act-runs.js').Outcome} Outcome */
/**
 * @typedef {{ action: import('./act-fields.js').ActionName, amount?: string | number }} Body `amount` is set if one was
 * entered for a refund.
 */

/**
 * The focus starts on the text, so that Enter does not press the button by accident.
 *
 * @param {{ frozen: Outcome, of: number, body: Body, currency: string, button: string, isBusy: boolean, onAct: () =>
 * Promise<void>, }} props `of`: the number of selected tasks.
 */
export function Preview({ frozen, of, body, currency, button, isBusy, onAct }) {
  const { done, refused, unconfirmed } = frozen;
  const act = actNamed(body.action);
  const [isLookedAt, setLookedAt] = useState(false);
  const region = useRef(/** @type {HTMLElement | null} */ (null));
  // Focus before the preview is painted, so that no early key press reaches the form.
  useLayoutEffect(() => {
    setLookedAt(false);
    region.current?.focus();
  }, [frozen]);
  const mayBillTwice = act.bills === 'twice';
  const isUnconfirmed = act.confirmation !== null && !isLookedAt;
  return html`<section ref=${region} tabindex="-1" aria-label="Preview">
    <div class=${`notice ${mayBillTwice ? 'warn' : act.ends ? '' : 'good'}`}>
      <p>
        ${`Nothing has been done yet. ${counted(done.length, 'task')} of ${of} would be affected: `}
        <strong>${movedInWords(frozen, body, currency)}</strong>.
      </p>
      <${UpstreamBill} frozen=${frozen} action=${body.action} />
      ${grouped(done.map(({ would }) => would?.task ?? ''))}
      ${grouped(done.map(({ would }) => would?.money ?? ''))}
    </div>
    <${Failures} title="Not possible" rows=${[...refused, ...unconfirmed]} />
    ${of > 1 && html`<${IdList} label="Would be affected" rows=${done.map(({ task }) => ({ id: task.id, text: '' }))} />`}
    ${
      done.length > 0 &&
      html`${
          act.confirmation !== null &&
          html`<label class="row">
            <input
              type="checkbox"
              checked=${isLookedAt}
              disabled=${isBusy}
              onChange=${(/** @type {Event & { currentTarget: HTMLInputElement }} */ event) =>
                setLookedAt(event.currentTarget.checked)}
            />
            ${act.confirmation}
          </label>`
        }
        <div class="row ends">
          <button
            type="button"
            class=${`main ${mayBillTwice ? 'risky' : act.ends ? 'destructive' : ''}`}
            disabled=${isBusy || isUnconfirmed}
            onClick=${onAct}
          >
            ${button}
          </button>
        </div>`
    }
  </section>`;
}

const kinds = /** @type {const} */ (['charged', 'released', 'refunded']);

/**
 * @param {Outcome} frozen
 * @param {Body} body
 * @param {string} currency
 */
function movedInWords(frozen, { action, amount }, currency) {
  const previews = previewsOf(frozen, action);
  if (previews.some(({ refunded }) => refunded === null)) return 'you need the amounts role to see amounts';
  if (previews.some(({ charged }) => charged === null))
    return 'the charge depends on the facts that you enter';
  const parts = kinds.flatMap((kind) => {
    const written = kind === 'refunded' && typeof amount === 'string' ? amount : undefined;
    const sum = sumMoney(previews.map((preview) => written ?? preview[kind] ?? '0'));
    return /[1-9]/.test(sum) ? [`${money(sum)} ${currency} ${kind}`] : [];
  });
  return parts.length === 0 ? 'no money is moved in the ledger' : parts.join(', ');
}

/** @param {Outcome} frozen @param {string} action */
function previewsOf({ done }, action) {
  return done.flatMap(({ task }) => task.situation.actions.filter(({ name }) => name === action));
}

/** @param {{ frozen: Outcome, action: string }} props */
function UpstreamBill({ frozen, action }) {
  const jobs = previewsOf(frozen, action).reduce((sum, { unpaid_jobs: more }) => sum + more, 0);
  if (jobs === 0) return null;
  return html`<p><strong>The upstream may bill ${counted(jobs, 'job')} that no charge covers.</strong></p>`;
}

const sentencesMax = 5;

/** @param {readonly string[]} texts */
function grouped(texts) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  const shown = [...counts].slice(0, sentencesMax);
  const others = [...counts].slice(sentencesMax).reduce((sum, [, count]) => sum + count, 0);
  return html`${shown.map(
    ([text, count]) =>
      html`<p>
        ${texts.length > 1 && html`<span class="soft">${count.toLocaleString('en')} × </span>`}<${Sentence}
          text=${text}
        />
      </p>`,
  )}
  ${others > 0 && html`<p class="soft">${`The effect is the same, with different amounts, for ${counted(others, 'task')}.`}</p>`}`;
}

/** @param {{ label: string, rows: readonly { id: string, text: string }[] }} props */
export function IdList({ label, rows }) {
  if (rows.length === 0) return null;
  return html`<ul class="ids small" tabindex="0" role="region" aria-label=${label}>
    ${rows.map(({ id, text }) => html`<li key=${id}><span class="mono">${id}</span> ${shortAmounts(text)}</li>`)}
  </ul>`;
}

/** @param {{ title: string, advice?: string, rows: Outcome['refused'] }} props */
export function Failures({ title, advice = '', rows }) {
  if (rows.length === 0) return null;
  return html`<div class="notice warn" role="alert">
    <p>${title} for ${counted(rows.length, 'task')}${advice}:</p>
    <${IdList} label=${title} rows=${rows} />
  </div>`;
}
