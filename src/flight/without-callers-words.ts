import { defined } from '../base/defined.ts';
import type { GenerationRequest } from '../models/request.ts';
import type { Task } from '../task/record.ts';
import { redactText, textsOf } from './redact.ts';

/**
 * Returns the task as anyone but its caller may see it. An upstream's error text may repeat what the caller wrote.
 * Without the request that cannot be checked, so all of its sentences are removed; codes and classes remain.
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
