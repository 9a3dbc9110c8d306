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
