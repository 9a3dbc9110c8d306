import { defined } from '../base/defined.ts';
import { nameFieldInMessage } from '../base/field-in-message.ts';
import { GatewayError } from '../errors/errors.ts';

export type TheirName = (ours: string) => string;

/** Translates our field names in errors into the names that the caller used. */
export async function inTheirWords<Result>(nameOf: TheirName, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    throw error instanceof GatewayError ? renamed(error, nameOf) : error;
  }
}

export function renamed(error: GatewayError, nameOf: TheirName): GatewayError {
  const { code, message, param: ours, ...about } = error;
  const param = nameOf(ours);
  if (ours === '' || param === ours) return error;
  const { detail, words, retryAfterSeconds, failure, cap, headers } = about;
  return new GatewayError(code, nameFieldInMessage(message, ours, param), {
    param,
    headers,
    cause: error,
    ...defined({ detail, words, retryAfterSeconds, failure, cap }),
  });
}
