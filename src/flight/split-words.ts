import { defined } from '../base/defined.ts';
import type { Failure } from '../errors/failure.ts';
import type { GenerationRequest } from '../models/request.ts';
import type { SaidOfFailure } from '../task/task.ts';
import { scrub } from '../http-client/index.ts';
import { redactText, textsOf } from './redact.ts';

/**
 * Splits what an upstream said of a failure, once, where it enters a task: `message` for everybody, and `messageToCaller`
 * where that says more. Without the request, what the caller wrote cannot be recognised, and `message` says nothing.
 */
export function splitWords(words: string, request: GenerationRequest | undefined): SaidOfFailure {
  const texts = request === undefined ? undefined : textsOf(request);
  const message = redactText(words, { secrets: [], ...defined({ texts }) });
  const messageToCaller = scrub(words);
  return message === messageToCaller ? { message } : { message, messageToCaller };
}

/** Without the field where the caller wrote its name, or where nobody can say. */
export function withoutCallersField(failure: Failure, request: GenerationRequest | undefined): Failure {
  const { field, ...rest } = failure;
  if (field === undefined || request === undefined) return rest;
  return redactText(field, { secrets: [], texts: textsOf(request) }) === field ? failure : rest;
}
