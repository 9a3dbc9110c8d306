import { counted, money } from '../shared/format.js';
import { html } from '../shared/preact.js';
import { daysBetween } from './periods.js';

/** Small charts: only lengths are computed, and the table has the figures. */

const size = { width: 960, height: 160, left: 112, top: 12, bottom: 20 };

/**
 * What was charged on each day of a period, over an axis of time and one of money.
 *
 * @param {{ rows: readonly { day?: string | null, charged: string }[], from: string, to: string, currency: string }} props
 */
export function DayChart({ rows, from, to, currency }) {
  const days = Math.max(1, daysBetween(from, to));
  const most = rows.reduce((top, { charged }) => (Number(charged) > Number(top) ? charged : top), '0');
  const [plotWidth, plotHeight] = [size.width - size.left, size.height - size.top - size.bottom];
  const step = plotWidth / days;
  const foot = size.top + plotHeight;
  return html`<div class="chart">
    <svg
      viewBox=${`0 0 ${size.width} ${size.height}`}
      role="img"
      aria-label=${`Charged on ${counted(rows.length, 'day')}, ${money(most)} ${currency} at most; the table has the figures.`}
    >
      ${[
        [size.top, `${money(most)} ${currency}`],
        [foot, '0'],
      ].map(
        ([y, label]) => html`
          <line x1=${size.left} x2=${size.width} y1=${y} y2=${y} />
          <text x=${size.left - 8} y=${Number(y) + 4} text-anchor="end">${label}</text>
        `,
      )}
      ${rows.map(({ day, charged }) => {
        const height = Number(most) === 0 ? 0 : Math.max(1, (Number(charged) / Number(most)) * plotHeight);
        const at = daysBetween(from, day ?? from);
        return html`<rect
          x=${size.left + at * step + step * 0.1}
          y=${foot - height}
          width=${Math.max(1, Math.min(step * 0.8, 48))}
          height=${height}
        >
          <title>${`${day ?? ''}: ${money(charged)} ${currency}`}</title>
        </rect>`;
      })}
      <text x=${size.left} y=${size.height - 4}>${from}</text>
      <text x=${size.width} y=${size.height - 4} text-anchor="end">before ${to}</text>
    </svg>
  </div>`;
}

/** A bar as long as the share of the largest. @param {{ of: number, most: number }} props */
export function Share({ of, most }) {
  return html`<svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    <rect width=${most === 0 ? 0 : (of / most) * 100} height="8" />
  </svg>`;
}
