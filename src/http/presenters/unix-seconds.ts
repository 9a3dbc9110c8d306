import { z } from 'zod';

/** Every time in an answer; a test reads the description. `meaning`: one sentence. */
export function unixSeconds(meaning = '') {
  return z.int().meta({ description: `Unix seconds. ${meaning}`.trimEnd() });
}

export function toSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

export function secondsOrNull(milliseconds: number | undefined): number | null {
  return milliseconds === undefined ? null : toSeconds(milliseconds);
}

/** A span in seconds, to a tenth. */
export function tenths(milliseconds: number): number {
  return Math.round(milliseconds / 100) / 10;
}
