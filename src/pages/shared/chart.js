import { html } from './preact.js';

/** The charts show only proportions. Put a table with the numbers next to each chart. */

/**
 * Parts are stacked from the bottom up. `tone` is a CSS class in app.css.
 *
 * @typedef {{ title: string, link?: string | undefined, parts: readonly { tone: string, value: number }[] }} Bar
 */

/**
 * @param {{ label: string, top: string, from: string, to: string, bars: readonly Bar[] }} props `top` is a text about
 * the highest bar or the total.
 */
export function BarChart({ label, top, from, to, bars }) {
  const highest = Math.max(...bars.map(heightOf), 0);
  return html`<div class="chart small soft">
    <div class="row apart"><span class="label">${label}</span><span>${top}</span></div>
    <svg
      viewBox=${`0 0 ${Math.max(1, bars.length)} 100`}
      preserveAspectRatio="none"
      role="img"
      aria-label=${`${label}: ${top}. See the table for the figures.`}
    >
      ${bars.map((bar, index) => html`<${BarOf} bar=${bar} x=${index} scale=${highest === 0 ? 0 : 100 / highest} />`)}
    </svg>
    <div class="row apart"><span>${from}</span><span>${to}</span></div>
  </div>`;
}

/** @param {Bar} bar */
function heightOf({ parts }) {
  return parts.reduce((sum, { value }) => sum + Math.max(0, value), 0);
}

/** The minimum height of a part, as a percentage of the chart's height. It keeps small parts visible. */
const least = 1.5;

/** @param {{ bar: Bar, x: number, scale: number }} props */
function BarOf({ bar, x, scale }) {
  let y = 100;
  return html`<g>
    <title>${bar.title}</title>
    <rect class="area" x=${x} y="0" width="1" height="100" />
    ${bar.parts
      .filter(({ value }) => value > 0)
      .map(({ tone, value }) => {
        const height = Math.max(least, value * scale);
        y -= height;
        return html`<rect class=${tone} x=${x + 0.1} y=${y} width="0.8" height=${height} />`;
      })}
  </g>`;
}

/** `most` is the value of a full bar. @param {{ of: number, most: number }} props */
export function Share({ of, most }) {
  return html`<svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    <rect class="main" width=${most === 0 ? 0 : (Math.max(0, of) / most) * 100} height="8" />
  </svg>`;
}
