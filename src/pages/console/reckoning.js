import { money, words } from '../shared/format.js';
import { html } from '../shared/preact.js';

/** @typedef {import('./types.d.ts').Reckoning} PriceReckoning */

/** Where a fact comes from, as people say it. */
const sources = {
  request: 'as requested',
  default: 'default of the model',
  upstream: 'reported by the upstream',
  measured: 'measured by the gateway',
  formula: 'by the formula of tokens',
  assumed: 'assumed: nobody knows it',
};

/**
 * How an amount came about: the facts, each line of the price with what was counted, and each step after their sum.
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
function Steps({ how: { rules_of: rulesOf, channel, facts, lines, steps }, open }) {
  const all = { ...sources, open: `left open: ${open}` };
  const given = facts
    .filter(({ value }) => value !== null && value !== false)
    .map(({ name, value, source }) => `${words(name)} ${String(value)} (${all[source]})`);
  return html`<p class="small">
      ${lines.length === 0 ? 'No line of a price was applied' : `By the price of the ${rulesOf}`}${
        channel === '' ? '' : ` at ${channel}`
      }
    </p>
    <p class="small soft">${given.join('; ')}</p>
    <table class="steps">
      <tbody>
        ${lines.map(
          ({ index, text, source, when, of = {}, amount }) =>
            html`<tr>
              <td>
                ${text}${' '}<span class="soft small"
                  >${[`line ${index + 1}`, all[source], ...testsOf(when), ...testsOf(of)].join(', ')}</span
                >
              </td>
              <td class="number">${amount}</td>
            </tr>`,
        )}
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

/** @param {Record<string, unknown>} tests */
function testsOf(tests) {
  return Object.entries(tests).map(([name, value]) => `${words(name)} ${String(value)}`);
}
