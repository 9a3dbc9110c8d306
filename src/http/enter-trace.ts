import type { ParameterizedContext } from 'koa';
import type { Span } from '../observability/tracing.ts';
import type { AppDeps } from './deps.ts';
import type { RequestState } from './request-scope.ts';
import type { Route } from './route.ts';

/**
 * Starts a span for the request. It belongs to the caller's trace if there is one. Call this only for authenticated
 * callers.
 */
export function enterTrace(
  { method, operationId, paths: [path] }: Route,
  { req, state: { requestId } }: ParameterizedContext<RequestState>,
  { tracer }: Pick<AppDeps, 'tracer'>,
): Span | undefined {
  if (tracer === undefined) return undefined;
  const { traceparent: header } = req.headers;
  const attributes = {
    'http.request.method': method.toUpperCase(),
    'http.route': path,
    'mediary.operation': operationId,
    'mediary.request_id': requestId,
  };
  const name = `${method.toUpperCase()} ${path}`;
  return tracer.enter(typeof header === 'string' ? header : undefined, { name, kind: 'server', attributes });
}
