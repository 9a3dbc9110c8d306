/** Times are in Unix milliseconds, and days are UTC days. */

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** Limits the lengths of media in a configuration, in seconds. Amounts of money count lengths in milliseconds. */
export const mediaSeconds = { min: 0.001, max: 86_400 } as const;

export function utcDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

export function isoSeconds(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}

export function utcDays(from: string, before: string): string[] {
  const count = Math.max(0, Math.round((Date.parse(before) - Date.parse(from)) / dayMs));
  return Array.from({ length: count }, (_, n) => utcDay(Date.parse(from) + n * dayMs));
}
