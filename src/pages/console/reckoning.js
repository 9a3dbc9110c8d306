import { money, words } from '../shared/format.js';
import { html } from '../shared/preact.js';

/** @typedef {import('./types.d.ts').Reckoning} PriceReckoning */

/** Where a fact comes from, as people say it. */
const sources = {
  request: 'as requested',
  default: 'default of the model',
  upstream: 'reported by the upstream',
  formula: 'by the formula of tokens',
  hold: 'as held',
};

/**
 * How an amount came about: the rule, the facts that it was applied to, and each step with what it comes to.
 *
 * @param {{ title: string, amount?: string, how: PriceReckoning | null, currency: string, open?: string }} props `amount`: of
 *   the ledger; `open`: which of all that is left open it is for, which is the dearest for a hold.
 */
export function Reckoning({ title, amount, how, currency, open = 'the dearest' }) {
  return html`<section class="reckoning">
    <h3>${title}: ${money(amount ?? how?.amount)} ${currency}</h3>
    ${how === null ? html`<p class="soft">Its entry does not state how.</p>` : html`<${Steps} how=${how} open=${open} />`}
  </section>`;
}

/** @param {{ how: PriceReckoning, open: string }} props */
function Steps({ how: { rule, rules_of: rulesOf, channel, facts, quantity, steps }, open }) {
  const all = { ...sources, open: `left open: ${open}` };
  const tested = Object.keys(rule?.when ?? {});
  const given = facts
    .filter(({ value }) => value !== null && value !== false)
    .map(({ name, value, source }) => `${words(name)} ${String(value)} (${all[source]})`);
  return html`<p class="small">
      ${rule === null ? 'No rule was applied' : `Rule ${rule.index + 1} of the ${rulesOf}`}${
        channel === '' ? '' : ` at ${channel}`
      }${tested.length === 0 ? '' : `, for ${tested.map((name) => `${words(name)} ${String(rule?.when[name])}`).join(', ')}`}
    </p>
    <p class="small soft">${given.join('; ')}</p>
    <table class="steps">
      <tbody>
        ${
          quantity &&
          html`<tr>
            <td>
              ${quantity.value} ${quantity.unit} <span class="soft small">${all[quantity.source]}</span>
            </td>
            <td></td>
          </tr>`
        }
        ${steps.map(
          ({ text, amount }) =>
            html`<tr>
              <td>${text}</td>
              <td class="number">${money(amount)}</td>
            </tr>`,
        )}
      </tbody>
    </table>`;
}
