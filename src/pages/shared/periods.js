const dayMs = 24 * 60 * 60 * 1000;

/**
 * The periods consist of whole UTC days. `to` is the first day after the period.
 *
 * @param {number} now Unix milliseconds
 * @returns {Record<string, { from: string, to: string }>}
 */
export function periods(now) {
  const date = new Date(now);
  /** @param {number} months */
  const monthFrom = (months) => dayOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1));
  const tomorrow = dayOf(now + dayMs);
  return {
    'This month': { from: monthFrom(0), to: tomorrow },
    'Last month': { from: monthFrom(-1), to: monthFrom(0) },
    'Last 7 days': { from: dayOf(now - 6 * dayMs), to: tomorrow },
    'Last 90 days': { from: dayOf(now - 89 * dayMs), to: tomorrow },
    'Last 12 months': { from: monthFrom(-11), to: tomorrow },
  };
}

/** @param {number} milliseconds */
function dayOf(milliseconds) {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

/**
 * @param {string} from
 * @param {string} to
 */
export function everyDay(from, to) {
  const count = Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / dayMs));
  return Array.from({ length: count }, (_, n) => dayOf(Date.parse(from) + n * dayMs));
}
