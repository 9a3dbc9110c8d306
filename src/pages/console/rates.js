/** @typedef {{ succeeded: number, failures: readonly { count: number }[] }} Ended */

/** @param {Pick<Ended, 'failures'>} ended */
export function failedOf({ failures }) {
  return failures.reduce((sum, { count }) => sum + count, 0);
}

/** Returns -1 if no task has finished. @param {Ended} ended */
export function rateOf(ended) {
  const all = ended.succeeded + failedOf(ended);
  return all === 0 ? -1 : ended.succeeded / all;
}

/** @param {number} rate */
export function rateText(rate) {
  return rate < 0 ? '–' : `${(rate * 100).toFixed(1)} %`;
}
