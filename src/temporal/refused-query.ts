import { isGrpcServiceError } from '@temporalio/client';

/** gRPC status: the query is not one. */
const grpcInvalidArgument = 3;

/** What Temporal's server has against a query of its visibility; undefined: the error is another one. */
export function refusedQuery(error: unknown): { readonly details: string } | undefined {
  const cause = error instanceof Error && !isGrpcServiceError(error) ? error.cause : error;
  return isGrpcServiceError(cause) && cause.code === grpcInvalidArgument ? cause : undefined;
}
