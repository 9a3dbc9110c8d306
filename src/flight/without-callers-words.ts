import { defined } from '../base/defined.ts';
import type { GenerationRequest } from '../models/request.ts';
import type { Task } from '../task/record.ts';
import { redactText, textsOf } from './redact.ts';

/**
 * The task for everybody but its caller: an upstream may repeat in its reasons what the caller wrote. Without the request
 * its sentences cannot be checked, so none is shown; codes and classes always are.
 */
export function withoutCallersWords(task: Task, request: GenerationRequest | undefined): Task {
  const texts = request === undefined ? undefined : textsOf(request);
  const shown = (text: string): string => redactText(text, { secrets: [], ...defined({ texts }) });
  const { attempts, error } = task;
  return {
    ...task,
    attempts: attempts.map(({ message, ...attempt }) => ({
      ...attempt,
      ...defined({ message: message === undefined ? undefined : shown(message) }),
    })),
    ...defined({
      error: error?.code === 'provider_error' ? { ...error, message: shown(error.message) } : error,
    }),
  };
}
