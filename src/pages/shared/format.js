const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/**
 * Shows at least two decimal places: `0.5` becomes `0.50`, and `1234.5` becomes `1,234.50`. Formats the text of the
 * amount, so nothing is rounded.
 *
 * @param {string | null | undefined} amount
 * @param {number} [least] the minimum number of decimal places
 */
export function money(amount, least = 2) {
  if (amount === null || amount === undefined || amount === '') return '–';
  const [, sign = '', whole = '', places = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
  if (whole === '') return amount;
  const kept = places.replace(/0+$/, '').padEnd(least, '0');
  return `${sign === '' ? '' : '−'}${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${kept}`;
}

/**
 * Amounts of 1 or more are rounded to two decimal places. Small amounts keep all digits, because rounding would hide
 * most of a price.
 *
 * @param {string | null | undefined} amount
 */
export function roundMoney(amount) {
  const [, sign = '', whole = '', places = ''] = /^(-?)(\d+)\.(\d+)$/.exec(amount ?? '') ?? [];
  if (!/[1-9]/.test(whole)) return money(amount);
  const cents = BigInt(whole + places.slice(0, 2).padEnd(2, '0')) + (/^..[5-9]/.test(places) ? 1n : 0n);
  const digits = String(cents);
  return money(`${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`);
}

/**
 * `0.500000` becomes `+0.50`, and `-0.4` becomes `−0.40`.
 *
 * @param {string | null | undefined} amount
 * @param {number} [least]
 */
export function movement(amount, least = 2) {
  return signed('+', money(amount, least));
}

/**
 * Formats an amount that leaves the account: `0.500000` becomes `−0.50`.
 *
 * @param {string | null | undefined} amount
 */
export function outgoing(amount) {
  return signed('−', money(amount));
}

/**
 * @param {'+' | '−'} sign
 * @param {string} shown
 */
function signed(sign, shown) {
  return /^\d/.test(shown) && /[1-9]/.test(shown) ? `${sign}${shown}` : shown;
}

/**
 * Returns the number of decimal places that all these amounts need, at least two.
 *
 * @param {readonly (string | null)[]} amounts
 */
export function placesOf(amounts) {
  return Math.max(2, ...amounts.map((amount) => /\.(\d*[1-9])0*$/.exec(amount ?? '')?.[1]?.length ?? 0));
}

/**
 * Shortens the amounts in a sentence from the gateway: `0.500000 USD` becomes `0.50 USD`, and `-0.500000` becomes
 * `−0.50`.
 *
 * @param {string} text
 */
export function shortAmounts(text) {
  return text.replaceAll(/(?<![\d.])(?:(?<!\S)-)?\d+\.\d{6}(?![\d.])/g, (amount) => money(amount));
}

/**
 * Adds decimal strings with at most six decimal places exactly. Returns an empty string if an amount is null, which
 * means that the operator is not allowed to see it.
 *
 * @param {readonly (string | null)[]} amounts
 */
export function sumMoney(amounts) {
  if (amounts.includes(null)) return '';
  const micros = amounts.reduce((sum, amount) => {
    const [whole = '', places = ''] = (amount ?? '').split('.');
    return sum + BigInt(whole + places.padEnd(6, '0'));
  }, 0n);
  const digits = String(micros < 0n ? -micros : micros).padStart(7, '0');
  return `${micros < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

/**
 * Uses the two largest units: `45 s`, `12 min`, `3 h 20 min`, `2 d 4 h`.
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
 * For example `12 min ago` or `in 3 h`. Both times are Unix seconds.
 *
 * @param {number} at
 * @param {number} now
 */
export function relative(at, now) {
  if (Math.abs(at - now) < 2) return 'now';
  return at < now ? `${span(now - at)} ago` : `in ${span(at - now)}`;
}

/**
 * For example `+1.2 s`, `+12 min` or `+3 h 20 min`.
 *
 * @param {number} seconds
 */
export function offset(seconds) {
  return seconds < minute ? `+${Math.max(0, seconds).toFixed(1)} s` : `+${span(seconds)}`;
}

/**
 * For example `2026-11-22 14:56:23`, in the reader's time zone.
 *
 * @param {number} at Unix seconds
 */
export function dateTime(at) {
  const date = new Date(at * 1000);
  const two = (/** @type {number} */ value) => String(value).padStart(2, '0');
  const days = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${days} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`;
}

/** @param {string} name */
export function words(name) {
  return name.replaceAll('_', ' ');
}

/**
 * For example `1 task`, `2 tasks` or `2 processes`.
 *
 * @param {number} count
 * @param {string} noun
 */
export function counted(count, noun) {
  const ending = noun.endsWith('s') ? 'es' : 's';
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : ending}`;
}

/**
 * Returns the gateway's sentence, or an empty string if it only repeats the task's state.
 *
 * @param {string} state
 * @param {string} sentence
 */
export function beside(state, sentence) {
  return [`The task ${state}.`, `The task is ${state}.`].includes(sentence) ? '' : sentence;
}
