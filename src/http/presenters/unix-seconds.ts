import { z } from 'zod';

/**
 * Every time in a response uses this schema. A test checks this by the schema's description. `meaning` is one sentence.
 */
export function unixSeconds(meaning = '') {
  return z.int().meta({ description: `Unix seconds. ${meaning}`.trimEnd() });
}

export function toSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

export function secondsOrNull(milliseconds: number | undefined): number | null {
  return milliseconds === undefined ? null : toSeconds(milliseconds);
}

export function tenths(milliseconds: number): number {
  return Math.round(milliseconds / 100) / 10;
}
