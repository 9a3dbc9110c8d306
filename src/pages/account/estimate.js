import { errorOf } from '../shared/api.js';
import { money } from '../shared/format.js';
import { html, useEffect, useState } from '../shared/preact.js';

/** @typedef {import('./types.js').Model} Model */

const estimateAfterMs = 400;

/**
 * @param {{
 *   api: import('../shared/api.js').Api, model: Model, asked: { path: string, body: Record<string, unknown> },
 *   hasPrompt: boolean, isNamed: boolean,
 * }} props
 */
export function Estimate({ api, model, asked, hasPrompt, isNamed }) {
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
    ${isNamed && html`<strong>${model.id}</strong>: `}
    ${shown?.text ?? `Enter a prompt to see the expected charge. ${pricesOf(model)}`}
  </p>`;
}

/**
 * @param {import('../shared/api.js').Api} api
 * @param {{ path: string, body: Record<string, unknown> }} asked
 */
async function estimateOf(api, { path, body }) {
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
    const isExact = least === most;
    const range = isExact ? money(most) : `${money(least)} to ${money(most)}`;
    const lately = expected === undefined || isExact ? '' : ` (recently about ${money(expected)})`;
    const held =
      isExact && hold === most
        ? ', held until the task ends.'
        : `. ${money(hold)} ${currency} is held until the task ends.`;
    const ignored = warnings.length === 0 ? '' : ` Not used by this model: ${warnings.join(', ')}.`;
    return {
      text: `Expected charge: ${range} ${currency}${lately}${held}${ignored}`,
      isRefusal: false,
    };
  } catch (thrown) {
    return { text: errorOf(thrown).message, isRefusal: true };
  }
}

/** @param {Model} model */
function pricesOf({ pricing: { currency, factor, lines } }) {
  const prices = lines.map(({ measure, when, price }) => {
    const conditions = Object.entries(when).map(([name, value]) => `${name} ${[value].flat().join(' or ')}`);
    return `${money(price)} per ${measure.replaceAll('_', ' ')}${conditions.length === 0 ? '' : ` for ${conditions.join(', ')}`}`;
  });
  return `In ${currency}: ${prices.join('; ')}${factor === '1' ? '' : `, each multiplied by ${factor}`}.`;
}
