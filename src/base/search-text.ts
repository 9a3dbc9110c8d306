/** The search terms in this file are stored with records, so that an index can find parts of ids and names. */

/**
 * The length of an indexed part. Parts start `partStep` characters apart, so any eight consecutive characters contain a
 * whole part.
 */
const partSize = 4;
const partStep = 5;

/** The minimum length of a search for part of an id. Shorter texts match only complete ids. */
export const idPartMin = 8;

export function partsOfId(id: string): string[] {
  const random = id.slice(id.indexOf('_') + 1);
  const count = Math.max(0, Math.floor((random.length - partSize) / partStep) + 1);
  return Array.from({ length: count }, (_, n) => random.slice(n * partStep, n * partStep + partSize));
}

/**
 * Returns the index keys to search for: every id that contains the text is indexed under at least one of them. Returns
 * undefined if the text is too short or cannot be part of an id.
 */
export function partsWithin(text: string): string[] | undefined {
  const random = text.slice(text.indexOf('_') + 1);
  if (random.length < idPartMin || !/^[0-9A-Za-z]+$/.test(random)) return undefined;
  return Array.from({ length: partStep }, (_, n) => random.slice(n, n + partSize));
}

const textMax = 60;
const wordsMax = 12;

/**
 * Searches match the beginnings of terms. The terms are therefore the rest of the name from the start of each word, and
 * the endings of the id.
 */
export function textsOf(id: string, name: string): string[] {
  const lower = name.toLowerCase();
  const starts = [...lower.matchAll(/[\p{L}\p{N}]+/gu)].map(({ index }) => index).slice(0, wordsMax);
  const ends = Array.from({ length: Math.max(1, id.length - idPartMin + 1) }, (_, n) => id.slice(n));
  const texts = [...starts.map((start) => lower.slice(start)), ...ends.map((end) => end.toLowerCase())];
  return [...new Set(texts.map((text) => text.slice(0, textMax)))];
}

export function inTexts(text: string): { readonly $regex: string } {
  return beginning(text.toLowerCase().slice(0, textMax));
}

export function beginning(text: string): { readonly $regex: string } {
  return { $regex: `^${text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}` };
}
