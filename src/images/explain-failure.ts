import { GatewayError } from '../errors/errors.ts';
import { isModeration } from '../errors/failure.ts';
import { scrub } from '../http-client/index.ts';
import type { UpstreamError } from '../providers/provider.ts';

/** Keeps official clients from automatically retrying a failed POST, which would buy the images a second time. */
export const noRetry = { 'x-should-retry': 'false' } as const;

const retryAfterSecondsDefault = 5;

export function mayBeAccepted({ outcome }: UpstreamError): boolean {
  return outcome === 'ambiguous';
}

/** For a synchronous request that no channel served. Nothing has been charged. */
export function explainFailure(failure: UpstreamError): GatewayError {
  const detail = `${failure.outcome}: ${failure.code}`;
  const because = { detail, failure: failure.failure };
  const words = `${failure.code}: ${scrub(failure.words)}`;
  const refused = {
    ...because,
    words,
    param: failure.failure.field ?? failure.failure.input ?? 'prompt',
    headers: noRetry,
  };
  if (isModeration(failure.failure.class)) {
    const message = 'The upstream rejected the content of the request.';
    return new GatewayError('content_policy_violation', message, refused);
  }
  switch (failure.outcome) {
    case 'ambiguous':
      return new GatewayError('provider_error', 'The upstream failed while rendering. Nothing was charged.', {
        ...because,
        words,
        headers: noRetry,
        cause: failure,
      });
    case 'rejected':
      return new GatewayError('invalid_parameter', 'The upstream rejected the request.', refused);
    case 'throttled':
    case 'not_sent':
      return new GatewayError('service_unavailable', 'The model is busy at the moment. Nothing was sent.', {
        ...because,
        retryAfterSeconds:
          failure.retryAfterMs === undefined
            ? retryAfterSecondsDefault
            : Math.max(1, Math.ceil(failure.retryAfterMs / 1000)),
        cause: failure,
      });
    case 'unavailable':
      return new GatewayError('provider_error', 'The upstream did not accept the request.', {
        ...because,
        cause: failure,
      });
    default:
      return failure.outcome satisfies never;
  }
}
