import { defined } from '../base/defined.ts';
import { GatewayError } from '../errors/errors.ts';

/** `images[0]` → the name of the caller's own field; unchanged if it has no other. */
export type TheirName = (ours: string) => string;

/** Runs what names our fields in its errors: they name the caller's instead. */
export async function inTheirWords<Result>(nameOf: TheirName, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    throw error instanceof GatewayError ? renamed(error, nameOf) : error;
  }
}

/** Replaces our name of the field in the error by the caller's name. */
export function renamed(error: GatewayError, nameOf: TheirName): GatewayError {
  const { code, message, param: ours, ...about } = error;
  const param = nameOf(ours);
  if (ours === '' || param === ours) return error;
  const { detail, words, retryAfterSeconds, failure, cap, headers } = about;
  return new GatewayError(code, message.replaceAll(`parameter ${ours}`, `parameter ${param}`), {
    param,
    headers,
    cause: error,
    ...defined({ detail, words, retryAfterSeconds, failure, cap }),
  });
}
