import type { Failure } from './failure.ts';
import { isToken, plainText } from '../base/plain-text.ts';

const codeCharactersMax = 100;
const wordsCharactersMax = 2_000;
const fieldPattern = /^[\w.:/[\]$-]{1,128}$/;

/**
 * An upstream's failure message, split into a part that may be logged and a part that may not. The message may contain
 * anything, including text from the caller.
 */
export interface UpstreamWords {
  /** Our own code, or one from the vendor's table. Safe for logs, histories and terminals. */
  readonly code: string;
  /** A one-line explanation of the failure. Never log it or write it to a workflow history. */
  readonly words: string;
}

/** Keeps the code if it is a plain token. Otherwise moves it to the front of `words` and uses `instead` as the code. */
export function typedWords({ code, words }: UpstreamWords, instead: string): UpstreamWords {
  return isToken(code, codeCharactersMax)
    ? { code, words: plainText(words, wordsCharactersMax) }
    : { code: instead, words: plainText(`${code}: ${words}`, wordsCharactersMax) };
}

export function typedFailure({ field, ...failure }: Failure): Failure {
  return field === undefined || !fieldPattern.test(field) ? failure : { ...failure, field };
}
