import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Middleware, ParameterizedContext } from 'koa';
import { messageOf } from '../base/caught.ts';
import { defined } from '../base/defined.ts';
import { GatewayError } from '../errors/errors.ts';
import type { Span } from '../observability/tracing.ts';
import type { AddressLimit } from './address-limit.ts';
import type { ClientAddress } from './client-address.ts';
import type { AppDeps } from './deps.ts';
import type { LostAnswers } from './lost-answers.ts';
import type { Dialect } from './dialects/dialect.ts';
import { renamed } from '../intake/their-words.ts';
import { errorHeaders, presentError, translateError } from './error-response.ts';
import { isProbe } from './route.ts';

export interface RequestState {
  lostAnswers: LostAnswers;
  requestId: string;
  operation: string;
  address: string;
  actor?: string | undefined;
  account?: string | undefined;
  /** The public id of the request's API key. */
  key?: string | undefined;
  task?: string | undefined;
  isTry?: boolean | undefined;
  /** Set if the route returns the error with a status other than its code's usual one. */
  errorStatus?: number | undefined;
  dialect?: Dialect | undefined;
  span?: Span | undefined;
}

export interface RequestScopeDeps extends Pick<AppDeps, 'log' | 'metrics'> {
  readonly addressOf: ClientAddress;
  readonly addresses: AddressLimit;
  readonly lostAnswers: LostAnswers;
  readonly isDraining: () => boolean;
}

const requestIdPattern = /^[\x20-\x7e]{1,128}$/;

/**
 * The outermost middleware. Assigns the request's id, rejects unreadable URLs and encoded bodies, turns errors into
 * responses, and measures the duration.
 */
export function createRequestScope(deps: RequestScopeDeps): Middleware<RequestState> {
  return async (context, next) => {
    const startedAt = performance.now();
    const requestId = requestIdOf(context.req.headers['x-request-id']);
    context.state = {
      requestId,
      operation: '',
      address: deps.addressOf.of(context.req),
      lostAnswers: deps.lostAnswers,
    };
    context.set('x-request-id', requestId);
    try {
      const path = pathOf(context);
      if (path === undefined || hasEncodedBody(context.req)) {
        deps.addresses.take(context.state.address);
        throw path === undefined ? unreadableAddress() : encodedBody();
      }
      await next();
    } catch (error) {
      writeError(context, error, deps);
    }
    // Check only now, because the server may have started to shut down while the response was prepared.
    if (deps.isDraining()) context.set('connection', 'close');
    const seconds = (performance.now() - startedAt) / 1000;
    // Log after the response has been sent, so that the caller does not wait for it.
    setImmediate(() => finish(context, seconds, deps));
  };
}

function requestIdOf(header: string | readonly string[] | undefined): string {
  return typeof header === 'string' && requestIdPattern.test(header) ? header : randomUUID();
}

/** Koa's parser throws for some URLs, such as `http://[::1`, `http://%ff@x` and `//a@[::1#`. */
function pathOf(context: Context): string | undefined {
  try {
    return context.path;
  } catch {
    return undefined;
  }
}

/** Must be checked before any parser runs, because a few kilobytes of compressed zeros expand to gigabytes. */
function hasEncodedBody({ headers: { 'content-encoding': encoding } }: IncomingMessage): boolean {
  return encoding !== undefined && encoding.trim().toLowerCase() !== 'identity';
}

function encodedBody(): GatewayError {
  return new GatewayError('unsupported_media_type', 'Send the body without content-encoding.');
}

function unreadableAddress(): GatewayError {
  return new GatewayError('invalid_parameter', 'The request URL cannot be read.');
}

type Context = ParameterizedContext<RequestState>;

function writeError(context: Context, thrown: unknown, { log }: RequestScopeDeps): void {
  const error = translateError(thrown);
  const { requestId, operation } = context.state;
  if (error.code === 'service_unavailable' && thrown instanceof GatewayError) {
    // These errors are thrown deliberately because a required service is unavailable. Their stack trace contains only
    // our own code and explains nothing, so log the cause instead.
    const { cause } = thrown;
    log.warn(
      {
        request_id: requestId,
        operation,
        code: error.code,
        reason: error.message,
        ...defined({ detail: cause === undefined ? error.detail : messageOf(cause) }),
      },
      'a request could not be served',
    );
  } else if (error.status >= 500) {
    log.error({ request_id: requestId, operation, code: error.code, err: thrown }, 'a request failed');
  } else if (error.detail !== undefined) {
    log.info(
      { request_id: requestId, operation, code: error.code, detail: error.detail },
      'a request was rejected',
    );
  }
  // Discard the rest of an unread body, so that the connection can be reused. A chunked body has an unknown length and
  // each of its chunks costs time, so close its connection instead.
  if (!context.req.complete && context.req.headers['transfer-encoding'] !== undefined) {
    context.set('connection', 'close');
  } else context.req.resume();
  const { errorStatus, dialect } = context.state;
  context.status = errorStatus ?? error.status;
  context.set(errorHeaders(error));
  context.set('content-type', 'application/json; charset=utf-8');
  const named = renamed(error, (ours) => (ours === 'task_id' ? (dialect?.idName ?? ours) : ours));
  context.body = JSON.stringify((dialect?.errors?.present ?? presentError)(named));
}

function finish(context: Context, seconds: number, { log, metrics }: RequestScopeDeps): void {
  const { requestId, operation, actor, account, key, task } = context.state;
  endSpan(context);
  metrics.observeRequest(operation, context.status, seconds);
  if (isProbe(operation) && context.status < 400) return;
  // A caller that floods the gateway must not flood the log as well.
  if (account === undefined && actor === undefined && context.status === 429) return;
  log[context.method === 'GET' ? 'debug' : 'info'](
    {
      request_id: requestId,
      operation,
      method: context.method,
      status: context.status,
      duration_ms: Math.round(seconds * 1000),
      ...defined({ actor, account, key, task }),
    },
    'request',
  );
}

function endSpan({ status, state: { span, account, task } }: Context): void {
  if (span === undefined) return;
  const subject = defined({ 'mediary.account': account, 'mediary.task': task });
  span.set({ 'http.response.status_code': status, ...subject });
  span.end({ failed: status >= 500 ? String(status) : undefined });
}
