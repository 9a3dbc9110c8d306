import type { Failure } from './failure.ts';
import { isToken, plainText } from '../base/plain-text.ts';

/**
 * Separates an upstream's failure message by trustworthiness. It may contain anything, including the caller's own text.
 * Pure.
 */

const codeCharactersMax = 100;
const wordsCharactersMax = 2_000;
const fieldPattern = /^[\w.:/[\]$-]{1,128}$/;

export interface UpstreamWords {
  /** Our own token, or one from the vendor's table. Safe for logs, histories and terminals. */
  readonly code: string;
  /** One line for people who need the reason. It never appears in a log or history. */
  readonly words: string;
}

/** Keeps a code that is a token. Any other code is moved in front of the words and replaced by `instead`. */
export function typedWords({ code, words }: UpstreamWords, instead: string): UpstreamWords {
  return isToken(code, codeCharactersMax)
    ? { code, words: plainText(words, wordsCharactersMax) }
    : { code: instead, words: plainText(`${code}: ${words}`, wordsCharactersMax) };
}

/** Removes the field if it cannot be a field name. */
export function typedFailure({ field, ...failure }: Failure): Failure {
  return field === undefined || !fieldPattern.test(field) ? failure : { ...failure, field };
}
