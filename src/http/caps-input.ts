import { z } from 'zod';
import { capWindows } from '../money/caps.ts';
import type { Caps } from '../money/caps.ts';
import { parseMicros } from '../money/money.ts';

const limit = z
  .string()
  .refine(
    (text) => (parseMicros(text) ?? -1n) >= 0n,
    'must be a decimal string with at most 6 places, and not negative',
  )
  .optional();

/** What an operator writes: of the UTC day, of the calendar month, and for ever. Absent: no cap. */
export const capsFields = { day: limit, month: limit, total: limit };

type WrittenCaps = { readonly [Window in keyof Caps]?: string | undefined };

export function parseCaps(written: WrittenCaps): Caps {
  return Object.fromEntries(
    capWindows.flatMap((window) => {
      const micros = parseMicros(written[window] ?? '');
      return micros === undefined ? [] : [[window, micros]];
    }),
  );
}

/** By the name of each part. Undefined: a name is there twice. */
export function parseParts<Part extends WrittenCaps>(
  parts: readonly Part[],
  nameOf: (part: Part) => string,
): ReadonlyMap<string, Caps> | undefined {
  const named = new Map(parts.map((part) => [nameOf(part), parseCaps(part)]));
  return named.size === parts.length ? named : undefined;
}
