/** How figures are written: pure, the same on every page. */

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/**
 * A decimal string as the API has it, with at least two places: `0.5` → `0.50`, `1234.5` → `1,234.50`. Digits are moved,
 * never computed with.
 *
 * @param {string | null | undefined} amount
 * @param {number} [least] How many places at least.
 */
export function money(amount, least = 2) {
  if (amount === null || amount === undefined || amount === '') return '–';
  const [, sign = '', whole = '', places = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
  if (whole === '') return amount;
  const kept = places.replace(/0+$/, '').padEnd(least, '0');
  return `${sign === '' ? '' : '−'}${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${kept}`;
}

/**
 * As `money`, with the sign of a movement: `0.500000` → `+0.50`, `-0.4` → `−0.40`.
 *
 * @param {string | null | undefined} amount
 * @param {number} [least] The least number of decimal places.
 */
export function movement(amount, least = 2) {
  const shown = money(amount, least);
  return /^\d/.test(shown) && /[1-9]/.test(shown) ? `+${shown}` : shown;
}

/**
 * How many places the longest of these amounts needs; two at least.
 *
 * @param {readonly (string | null)[]} amounts
 */
export function placesOf(amounts) {
  return Math.max(2, ...amounts.map((amount) => /\.(\d*[1-9])0*$/.exec(amount ?? '')?.[1]?.length ?? 0));
}

/**
 * Amounts within a sentence of the gateway, written as everywhere else: `0.500000 USD` → `0.50 USD`.
 *
 * @param {string} text
 */
export function shortAmounts(text) {
  return text.replaceAll(/(?<![\d.])\d+\.\d{6}(?![\d.])/g, (amount) => money(amount));
}

/**
 * The exact sum of decimal strings with at most six places.
 *
 * @param {readonly string[]} amounts
 */
export function sumMoney(amounts) {
  const micros = amounts.reduce((sum, amount) => {
    const [whole = '', places = ''] = amount.split('.');
    return sum + BigInt(whole + places.padEnd(6, '0'));
  }, 0n);
  const digits = String(micros < 0n ? -micros : micros).padStart(7, '0');
  return `${micros < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

/**
 * A span in its two largest units: `45 s`, `12 min`, `3 h 20 min`, `2 d 4 h`.
 *
 * @param {number} seconds
 */
export function span(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < minute) return `${whole} s`;
  if (whole < hour) return `${Math.floor(whole / minute)} min`;
  if (whole < day) return pair([Math.floor(whole / hour), 'h'], [Math.floor((whole % hour) / minute), 'min']);
  return pair([Math.floor(whole / day), 'd'], [Math.floor((whole % day) / hour), 'h']);
}

/**
 * @param {[number, string]} large
 * @param {[number, string]} small
 */
function pair([large, unit], [rest, smallUnit]) {
  return rest === 0 ? `${large} ${unit}` : `${large} ${unit} ${rest} ${smallUnit}`;
}

/**
 * `12 min ago`, `in 3 h`. Both times are Unix seconds.
 *
 * @param {number} at
 * @param {number} now
 */
export function relative(at, now) {
  if (Math.abs(at - now) < 2) return 'now';
  return at < now ? `${span(now - at)} ago` : `in ${span(at - now)}`;
}

/**
 * How long after the beginning: `+1.2 s`, `+12 min`, `+3 h 20 min`.
 *
 * @param {number} seconds
 */
export function offset(seconds) {
  return seconds < minute ? `+${Math.max(0, seconds).toFixed(1)} s` : `+${span(seconds)}`;
}

/**
 * `2026-11-22 14:56:23`, in the reader's time zone.
 *
 * @param {number} at Unix seconds
 */
export function dateTime(at) {
  const date = new Date(at * 1000);
  const two = (/** @type {number} */ value) => String(value).padStart(2, '0');
  const days = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${days} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`;
}

/**
 * `submit_ambiguous` → `submit ambiguous`.
 *
 * @param {string} name
 */
export function words(name) {
  return name.replaceAll('_', ' ');
}

/**
 * `1 task`, `2 tasks`.
 *
 * @param {number} count
 * @param {string} noun
 */
export function counted(count, noun) {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}
