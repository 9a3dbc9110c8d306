import { InvalidArgumentError } from 'commander';

/** What several verbs read from an option. They throw what commander reports as a fault of that option. */

export function parseCount(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('It must be a number, at least 1.');
  return Number(text);
}

/** Decimal, not negative. */
export function parseAmount(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('It must be a number, such as 5 or 7.5.');
  return Number(text);
}

export const timeMeaning = 'a time (2026-11-22, 2026-11-22T14:00:00Z) or how long ago (90m, 24h, 7d)';

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Unix seconds. */
export function parseTime(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const now = Math.floor(Date.now() / 1000);
  if (count !== '') return now - Number(count) * (unitSeconds[unit] ?? 1);
  const at = /^\d{4}-\d\d-\d\d(?:T|$)/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw new InvalidArgumentError('It must be a date, a time, or 90m, 24h or 7d.');
  return Math.floor(at / 1000);
}
