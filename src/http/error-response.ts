import { z } from 'zod';
import { isNetworkFailure } from '../base/caught.ts';
import { defined } from '../base/defined.ts';
import { GatewayError, errorTable, mayBeRepeated } from '../errors/errors.ts';
import { noRoomOr } from '../errors/not-stored.ts';
import { capSchema, presentCap } from './presenters/cap.ts';
import { failureClassSchema } from './presenters/enums.ts';

export const errorSchema = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.string(),
      param: z
        .string()
        .meta({ description: 'The field at fault, such as `metadata.seed`. Empty if no field is at fault.' }),
      code: z.string().meta({ description: 'One of the codes that the guide “Errors” explains.' }),
      class: failureClassSchema.optional(),
      cap: capSchema.optional().meta({
        description:
          'The cap that the request would exceed. Present only if the code is `spend_cap_exceeded`.',
      }),
    }),
  })
  .meta({ id: 'Error' });

export function presentError(error: GatewayError): z.infer<typeof errorSchema> {
  const { param, code, words, failure, cap } = error;
  const { type } = errorTable[code];
  const message = words === undefined ? error.message : `${error.message} The upstream said: ${words}`;
  return {
    error: { message, type, param, code, ...defined({ class: failure?.class, cap: cap && presentCap(cap) }) },
  };
}

/** The names of errors which show that MongoDB is not responding. The same request may succeed later. */
const outageNames = new Set([
  'LedgerUnavailableError',
  'MongoClientClosedError',
  'MongoNetworkError',
  'MongoNotConnectedError',
  'MongoOperationTimeoutError',
  'MongoPoolClosedError',
  'MongoServerClosedError',
  'MongoServerSelectionError',
  'MongoTopologyClosedError',
  'MongoWaitQueueTimeoutError',
  'MongoWriteConcernError',
]);
/**
 * MongoDB's codes for a server that is not the primary, is shutting down, is overloaded, or did not reach a majority in
 * time.
 */
const outageCodes = new Set([
  6, 7, 24, 50, 64, 89, 91, 112, 133, 134, 189, 262, 365, 9001, 10_107, 11_600, 11_601, 11_602, 13_435,
  13_436,
]);
const outageRetrySeconds = 5;

/** Keeps our own errors, turns outages into a 503, and conceals everything else. */
export function translateError(thrown: unknown): GatewayError {
  const error = noRoomOr(thrown);
  if (error instanceof GatewayError) return error;
  if (error instanceof Error && isOutage(error)) {
    return new GatewayError('service_unavailable', 'The service is not available at the moment.', {
      retryAfterSeconds: outageRetrySeconds,
      cause: error,
    });
  }
  return new GatewayError('internal_error', 'Something went wrong on our side.', { cause: error });
}

/**
 * This directory does not import the driver, so its errors are recognised by the names of their class and parent
 * classes.
 */
function isOutage(error: Error): boolean {
  if (isNetworkFailure(error)) return true;
  const code = error.name.startsWith('Mongo') && 'code' in error ? error.code : undefined;
  if (outageNames.has(error.name) || (typeof code === 'number' && outageCodes.has(code))) return true;
  let kind: unknown = Object.getPrototypeOf(error);
  while (kind instanceof Error) {
    if (outageNames.has(kind.constructor.name)) return true;
    kind = Object.getPrototypeOf(kind);
  }
  return false;
}

export function errorHeaders(error: GatewayError): Readonly<Record<string, string>> {
  return {
    // Official clients honour this header. If it is missing, they retry every 409.
    ...(mayBeRepeated(error) ? {} : { 'x-should-retry': 'false' }),
    ...error.headers,
    ...(error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) }),
    ...(error.code === 'invalid_api_key' ? { 'www-authenticate': 'Bearer' } : {}),
  };
}
