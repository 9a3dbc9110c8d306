import { counted, money } from '../shared/format.js';
import { html } from '../shared/preact.js';
import { daysBetween } from './periods.js';

/** Small charts: only lengths are computed, and the table has the figures. */

/**
 * What was charged on each day of a period, over an axis of time and one of money.
 *
 * @param {{ rows: readonly { day?: string | null, charged: string }[], from: string, to: string, currency: string }} props
 */
export function DayChart({ rows, from, to, currency }) {
  const days = Math.max(1, daysBetween(from, to));
  const most = rows.reduce((top, { charged }) => (Number(charged) > Number(top) ? charged : top), '0');
  return html`<div class="chart small soft">
    <div>${money(most)} ${currency}</div>
    <svg
      viewBox=${`0 0 ${days} 100`}
      preserveAspectRatio="none"
      role="img"
      aria-label=${`Charged on ${counted(rows.length, 'day')}, ${money(most)} ${currency} at most; the table has the figures.`}
    >
      ${rows.map(({ day, charged }) => {
        const height = Number(most) === 0 ? 0 : Math.max(1, (Number(charged) / Number(most)) * 100);
        return html`<rect
          x=${daysBetween(from, day ?? from) + 0.1}
          y=${100 - height}
          width=${Math.min(0.8, days / 20)}
          height=${height}
        >
          <title>${`${day ?? ''}: ${money(charged)} ${currency}`}</title>
        </rect>`;
      })}
    </svg>
    <div class="row apart"><span>${from}</span><span>before ${to}</span></div>
  </div>`;
}

/** A bar as long as the share of the largest. @param {{ of: number, most: number }} props */
export function Share({ of, most }) {
  return html`<svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    <rect width=${most === 0 ? 0 : (of / most) * 100} height="8" />
  </svg>`;
}
