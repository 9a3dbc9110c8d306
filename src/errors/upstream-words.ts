import type { Failure } from './failure.ts';
import { isToken, plainText } from '../base/plain-text.ts';

/** What an upstream says of a failure, typed: it may be anything, the caller's own text included. Pure. */

const codeCharactersMax = 100;
const wordsCharactersMax = 2_000;
const fieldPattern = /^[\w.:/[\]$-]{1,128}$/;

export interface UpstreamWords {
  /** A token of ours, or one that its vendor's table names: fit for logs, histories and terminals. */
  readonly code: string;
  /** One line, for whoever has to know why: in no log and no history. */
  readonly words: string;
}

/** A code that is not a token goes in front of the words, and `instead` takes its place. */
export function typedWords({ code, words }: UpstreamWords, instead: string): UpstreamWords {
  return isToken(code, codeCharactersMax)
    ? { code, words: plainText(words, wordsCharactersMax) }
    : { code: instead, words: plainText(`${code}: ${words}`, wordsCharactersMax) };
}

/** Without the field, if it cannot be the name of one. */
export function typedFailure({ field, ...failure }: Failure): Failure {
  return field === undefined || !fieldPattern.test(field) ? failure : { ...failure, field };
}
