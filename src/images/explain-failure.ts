import { GatewayError, type GatewayErrorOptions } from '../errors/errors.ts';
import { isModeration, type Failure } from '../errors/failure.ts';
import { scrub } from '../http-client/index.ts';
import type { UpstreamError } from '../providers/provider.ts';

/** Keeps official clients from automatically retrying a failed POST, which would buy the images a second time. */
export const noRetry = { 'x-should-retry': 'false' } as const;

const retryAfterSecondsDefault = 5;

export function mayBeAccepted({ outcome }: UpstreamError): boolean {
  return outcome === 'ambiguous';
}

/** Returns the error of a synchronous request that no channel served. Nothing has been charged. */
export function explainFailure(failure: UpstreamError): GatewayError {
  const because = { detail: `${failure.outcome}: ${failure.code}`, failure: failure.failure };
  const words = `${failure.code}: ${scrub(failure.words)}`;
  const rejection = explainRejection(failure.failure, { ...because, words });
  if (rejection !== undefined) return rejection;
  switch (failure.outcome) {
    // An upstream that rejected neither the content nor the fields made no image for a reason of its own.
    case 'rejected':
    case 'ambiguous':
      return new GatewayError('provider_error', 'The upstream failed while rendering. Nothing was charged.', {
        ...because,
        words,
        headers: noRetry,
        cause: failure,
      });
    case 'throttled':
    case 'not_sent':
      return new GatewayError(
        'service_unavailable',
        'The model is busy at the moment. Nothing was created.',
        {
          ...because,
          retryAfterSeconds:
            failure.retryAfterMs === undefined
              ? retryAfterSecondsDefault
              : Math.max(1, Math.ceil(failure.retryAfterMs / 1000)),
          cause: failure,
        },
      );
    case 'unavailable':
      return new GatewayError('provider_error', 'The upstream did not accept the request.', {
        ...because,
        cause: failure,
      });
    default:
      return failure.outcome satisfies never;
  }
}

/**
 * Returns the error of a synchronous request that the upstream rejected for its content or its fields, whether or not
 * a task was created for it. Returns undefined for any other failure.
 */
export function explainRejection(
  failure: Failure,
  { headers = {}, ...about }: Pick<GatewayErrorOptions, 'detail' | 'words' | 'headers'>,
): GatewayError | undefined {
  const rejected = {
    ...about,
    failure,
    param: failure.field ?? failure.input ?? 'prompt',
    headers: { ...headers, ...noRetry },
  };
  if (isModeration(failure.class))
    return new GatewayError(
      'content_policy_violation',
      'The upstream rejected the content of the request.',
      rejected,
    );
  return failure.class === 'invalid_input'
    ? new GatewayError('invalid_parameter', 'The upstream rejected the request.', rejected)
    : undefined;
}
