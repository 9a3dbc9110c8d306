import { GatewayError } from '../errors/errors.ts';
import { isTerminal } from './task.ts';
import type { Task } from './record.ts';

/**
 * `request` holds only the parts of the caller's request that are still stored.
 * @throws GatewayError if the callback cannot be redelivered
 */
export function requireRedeliverable(
  { status }: Pick<Task, 'status'>,
  request: { readonly callbackUrl?: string } | undefined,
): void {
  const refuse = (why: string) => new GatewayError('action_not_possible', why);
  if (!isTerminal(status)) throw refuse('A callback can be redelivered only after the task has ended.');
  if (request === undefined)
    throw refuse('The caller’s request, which contains the callback URL, has been deleted.');
  if (request.callbackUrl === undefined) throw refuse('The task has no callback URL.');
}
