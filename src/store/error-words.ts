import { createHmac } from 'node:crypto';

/**
 * Returns search terms for the words in failure messages, longest words first. They make sealed messages searchable.
 * Nobody can match a term with a word without the key.
 */
export type ErrorTerms = (texts: readonly string[], max?: number) => string[];

const termsMax = 64;
const termBytes = 6;

/** @param key - 32 bytes that must outlive SECRETS_KEY, because terms are never rewritten. */
export function createErrorTerms(key: Uint8Array): ErrorTerms {
  const termOf = (word: string): string =>
    createHmac('sha256', key).update(word).digest().subarray(0, termBytes).toString('base64url');
  return (texts, max = termsMax) =>
    [...new Set(texts.flatMap(wordsOf))]
      .toSorted((a, b) => b.length - a.length)
      .slice(0, max)
      .map(termOf);
}

function wordsOf(text: string): string[] {
  const runs = text.toLowerCase().match(/\p{Script=Han}{2,}|(?:(?!\p{Script=Han})[\p{L}\p{N}]){3,}/gu) ?? [];
  return runs.flatMap((run) => {
    if (!/^\p{Script=Han}+$/u.test(run)) return [run];
    const characters = Array.from(run);
    return characters.slice(1).map((character, before) => `${characters[before] ?? ''}${character}`);
  });
}
