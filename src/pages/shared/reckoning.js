import { money, placesOf, shortAmounts, words } from './format.js';
import { html } from './preact.js';

/** @typedef {import('../console/types.d.ts').Reckoning} PriceReckoning */

const sources = {
  request: 'as requested',
  default: 'default of the model',
  upstream: 'reported by the upstream',
  measured: 'measured by the gateway',
  formula: 'by the token formula',
  assumed: 'assumed, because it is unknown',
};

/**
 * @param {{ title: string, amount?: string, how: PriceReckoning | null, currency: string, open?: string }} props
 * `amount`: the amount in the ledger. `open`: how unspecified parameters were priced. A hold assumes the most
 * expensive value.
 */
export function Reckoning({ title, amount, how, currency, open = 'the most expensive' }) {
  return html`<section class="reckoning">
    <h3>${title}: ${money(amount ?? how?.amount)} ${currency}</h3>
    ${how === null ? html`<p class="soft">The entry does not say how it was computed.</p>` : html`<${Steps} how=${how} open=${open} />`}
  </section>`;
}

/** @param {{ how: PriceReckoning, open: string }} props */
function Steps({ how: { rules_of: rulesOf, channel, facts, lines, steps }, open }) {
  const all = { ...sources, open: `left open: ${open}` };
  const places = placesOf([...lines, ...steps].map(({ amount }) => amount));
  const given = facts
    .filter(({ value }) => value !== null && value !== false)
    .map(({ name, value, source }) => `${words(name)} ${String(value)} (${all[source]})`);
  return html`<p class="small">
      ${lines.length === 0 ? 'No price line was applied' : `By the price of the ${rulesOf}`}${
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
                ${shortAmounts(text)}${' '}<span class="soft small"
                  >${[`line ${index + 1}`, all[source], ...testsOf(when), ...testsOf(of)].join(', ')}</span
                >
              </td>
              <td class="number">${money(amount, places)}</td>
            </tr>`,
        )}
        ${steps.map(
          ({ text, amount }) =>
            html`<tr>
              <td>${shortAmounts(text)}</td>
              <td class="number">${money(amount, places)}</td>
            </tr>`,
        )}
      </tbody>
    </table>`;
}

/** @param {Record<string, unknown>} tests */
function testsOf(tests) {
  return Object.entries(tests).map(([name, value]) => `${words(name)} ${String(value)}`);
}
