import { InvalidArgumentError } from 'commander';

export function parseCount(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('It must be a whole number of at least 1.');
  return Number(text);
}

export function parseWhole(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

export function parseDecimal(text: string): number {
  if (!/^-?\d+(\.\d+)?$/.test(text))
    throw new InvalidArgumentError('It must be a number, such as 25 or -7.5.');
  return Number(text);
}

export function parseList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

export function parseAmount(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('It must be a number, such as 5 or 7.5.');
  return Number(text);
}

export const timeMeaning = 'a time (2026-11-22, 2026-11-22T14:00:00Z) or how long ago (90m, 24h, 7d)';

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

function secondsIn(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (unitSeconds[unit] ?? 1);
}

export function parseSeconds(text: string): number {
  const seconds = /^\d+$/.test(text) ? Number(text) : secondsIn(text);
  if (seconds === undefined) throw new InvalidArgumentError('It must be a time, such as 0, 30m, 24h or 7d.');
  return seconds;
}

export function parseTime(text: string): number {
  const ago = secondsIn(text);
  const at = ago === undefined ? dateIn(text) : Math.floor(Date.now() / 1000) - ago;
  if (at === undefined) throw new InvalidArgumentError('It must be a date, a time, or 90m, 24h or 7d.');
  return at;
}

/** Returns Unix seconds. Unlike `parseTime`, does not accept an age. */
export function parseDate(text: string): number {
  const at = dateIn(text);
  if (at === undefined) throw new InvalidArgumentError('It must be a date, such as 2030-01-31.');
  return at;
}

function dateIn(text: string): number | undefined {
  const at = /^\d{4}-\d\d-\d\d(?:T|$)/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.floor(at / 1000);
}
