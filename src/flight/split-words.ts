import { defined } from '../base/defined.ts';
import type { Failure } from '../errors/failure.ts';
import type { GenerationRequest } from '../models/request.ts';
import type { SaidOfFailure } from '../task/task.ts';
import { scrub } from '../http-client/index.ts';
import { redactText, textsOf } from './redact.ts';

/**
 * Splits an upstream's failure message once, when it is recorded on the task. Anyone may read `message`, but only the
 * caller may read `messageToCaller`, which may repeat the caller's own words. If the request is missing, these words
 * cannot be recognised, so `message` then contains none of the upstream's words.
 */
export function splitWords(words: string, request: GenerationRequest | undefined): SaidOfFailure {
  const texts = request === undefined ? undefined : textsOf(request);
  const message = redactText(words, { secrets: [], ...defined({ texts }) });
  const messageToCaller = scrub(words);
  return message === messageToCaller ? { message } : { message, messageToCaller };
}

/** Removes the field if its name came from the caller, or if there is no request to compare it with. */
export function withoutCallersField(failure: Failure, request: GenerationRequest | undefined): Failure {
  const { field, ...rest } = failure;
  if (field === undefined || request === undefined) return rest;
  return redactText(field, { secrets: [], texts: textsOf(request) }) === field ? failure : rest;
}
