import { isGrpcServiceError } from '@temporalio/client';

const grpcInvalidArgument = 3;

export function refusedQuery(error: unknown): { readonly details: string } | undefined {
  const cause = error instanceof Error && !isGrpcServiceError(error) ? error.cause : error;
  return isGrpcServiceError(cause) && cause.code === grpcInvalidArgument ? cause : undefined;
}
