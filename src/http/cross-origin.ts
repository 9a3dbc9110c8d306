import Router from '@koa/router';
import type Koa from 'koa';
import type { RequestState } from './request-scope.ts';
import type { Route } from './route.ts';

const preflightSeconds = 600;

const exposedHeaders = [
  'content-disposition',
  'etag',
  'idempotency-replayed',
  'location',
  'retry-after',
  'x-litellm-response-cost',
  'x-mediary-cap',
  'x-mediary-cap-limit',
  'x-mediary-cap-remaining',
  'x-mediary-cap-reset',
  'x-mediary-cost',
  'x-mediary-hold',
  'x-mediary-image',
  'x-mediary-warning',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  'x-request-id',
  'x-should-retry',
].join(', ');

type Context = Koa.ParameterizedContext<RequestState>;

/**
 * Pages from `allowed_origins` may use only routes that accept an API key. Any header is allowed, because cookies are
 * never used.
 */
export function createCrossOrigin(routes: readonly Route[], allowedOrigins: () => readonly string[]) {
  const shared = new Router<RequestState>({ sensitive: true });
  for (const { authentication, method, paths } of routes)
    if (authentication === 'key') shared.register([...paths], [method], () => undefined);
  return async (context: Context, next: () => Promise<void>): Promise<void> => {
    const allowed = allowedOrigins();
    const preflightFor = context.method === 'OPTIONS' && context.get('access-control-request-method');
    const method = preflightFor === false ? context.method : preflightFor;
    if (allowed.length === 0 || !shared.match(context.path, method).route) return next();
    context.vary('origin');
    const origin = context.get('origin');
    if (!allowed.includes(origin) && (origin === '' || !allowed.includes('*'))) return next();
    context.set('access-control-allow-origin', origin);
    if (preflightFor === false) {
      context.set('access-control-expose-headers', exposedHeaders);
      return next();
    }
    context.set({
      'access-control-allow-methods': method,
      'access-control-allow-headers': context.get('access-control-request-headers'),
      'access-control-max-age': String(preflightSeconds),
    });
    context.status = 204;
    return undefined;
  };
}
