import type { Failure } from './failure.ts';
import { isToken, plainText } from '../base/plain-text.ts';

const codeCharactersMax = 100;
const wordsCharactersMax = 2_000;
const fieldPattern = /^[\w.:/[\]$-]{1,128}$/;

/**
 * Separates an upstream's failure message, which may contain anything, including the caller's text, from a code that
 * may be logged.
 */
export interface UpstreamWords {
  /** The code comes from our own table or the vendor's, so it is safe for logs, histories and terminals. */
  readonly code: string;
  /** One line. Never log it or write it to a workflow history. */
  readonly words: string;
}

/** If the code is not a plain token, moves it to the front of `words` and uses `instead` as the code. */
export function typedWords({ code, words }: UpstreamWords, instead: string): UpstreamWords {
  return isToken(code, codeCharactersMax)
    ? { code, words: plainText(words, wordsCharactersMax) }
    : { code: instead, words: plainText(`${code}: ${words}`, wordsCharactersMax) };
}

export function typedFailure({ field, ...failure }: Failure): Failure {
  return field === undefined || !fieldPattern.test(field) ? failure : { ...failure, field };
}
