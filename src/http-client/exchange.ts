import { Agent, errors, request } from 'undici';
import type { Dispatcher } from 'undici';
import { ConnectError, createConnector } from './connector.ts';
import type { ConnectorOptions } from './connector.ts';

/** Why an exchange did not end with a complete answer. */
export type ExchangeFailure =
  | ConnectError['code']
  | 'invalid_request'
  | 'aborted'
  | 'timeout'
  | 'connection_lost'
  | 'encoded_answer'
  | 'answer_too_large';

export class ExchangeError extends Error {
  readonly code: ExchangeFailure;
  /** Whether a byte of the request may have left this machine. */
  readonly sent: boolean;
  readonly status: number | undefined;

  constructor(code: ExchangeFailure, message: string, details: ExchangeErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'ExchangeError';
    this.code = code;
    this.sent = details.sent;
    this.status = details.status;
  }
}

interface ExchangeErrorDetails {
  readonly sent: boolean;
  readonly status?: number | undefined;
  readonly cause?: unknown;
}

export interface AgentLimits extends ConnectorOptions {
  readonly connectionsPerOrigin: number;
  /** An idle connection is closed after this; shorter than any server's, so that we rarely write into a closing one. */
  readonly idleTimeoutMs: number;
  /** From the request's last byte to the answer's headers. */
  readonly headersTimeoutMs: number;
  /** Between two pieces of the answer's body. */
  readonly bodyTimeoutMs: number;
}

export function createAgent(limits: AgentLimits): Agent {
  return new Agent({
    connect: createConnector(limits),
    connections: limits.connectionsPerOrigin,
    // One request at a time on a connection: a connection that breaks concerns one request.
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: limits.idleTimeoutMs,
    keepAliveMaxTimeout: limits.idleTimeoutMs,
    headersTimeout: limits.headersTimeoutMs,
    bodyTimeout: limits.bodyTimeoutMs,
  });
}

export interface ExchangeOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Never decoded. At most `maxBytes`; throws ExchangeError. Leaving the loop early closes the connection. */
  read(maxBytes: number): AsyncGenerator<Uint8Array, void, undefined>;
  /** Not interested in the body. */
  discard(): void;
}

/** Sends one request, at most once, and resolves when the answer's headers came. Follows no redirect. */
export async function exchange(agent: Agent, options: ExchangeOptions): Promise<Answer> {
  const progress: Progress = { started: false };
  try {
    options.signal.throwIfAborted();
    const { statusCode, headers, body } = await request(options.url, {
      dispatcher: agent.compose(trackStart(progress)),
      method: options.method,
      headers: { 'accept-encoding': 'identity', ...options.headers },
      body: options.body ?? null,
      signal: options.signal,
    });
    return {
      status: statusCode,
      headers: flattenHeaders(headers),
      read: (maxBytes) => readBody(body, { maxBytes, status: statusCode, signal: options.signal }),
      discard: () => discard(body),
    };
  } catch (error) {
    throw explain(error, { sent: progress.started, signal: options.signal });
  }
}

export function isEncoded({ headers }: Answer): boolean {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  return encoding !== '' && encoding !== 'identity';
}

interface Progress {
  started: boolean;
}

/**
 * Notes whether the request was handed to a socket, and refuses to hand it over a second time: undici puts a request
 * back into its queue when it believes that it was not processed, and that belief may cost money.
 */
function trackStart(progress: Progress): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => dispatch(options, trackHandler(handler, progress));
}

function trackHandler(handler: Dispatcher.DispatchHandler, progress: Progress): Dispatcher.DispatchHandler {
  return {
    onConnect(abort: (error?: Error) => void) {
      if (progress.started) {
        abort(new Error('The request would have been sent twice.'));
        return;
      }
      let aborted = false;
      handler.onConnect?.((error) => {
        aborted = true;
        abort(error);
      });
      progress.started = !aborted;
    },
    onHeaders: (...answer) => handler.onHeaders?.(...answer) ?? true,
    onData: (chunk) => handler.onData?.(chunk) ?? true,
    onComplete: (trailers) => handler.onComplete?.(trailers),
    onError: (error) => handler.onError?.(error),
  };
}

interface ReadContext {
  readonly maxBytes: number;
  readonly status: number;
  readonly signal: AbortSignal;
}

type Body = Dispatcher.ResponseData['body'];

async function* readBody(body: Body, context: ReadContext): AsyncGenerator<Uint8Array, void, undefined> {
  const { maxBytes, status } = context;
  let bytes = 0;
  try {
    for await (const chunk of body) {
      if (!(chunk instanceof Uint8Array)) continue;
      bytes += chunk.byteLength;
      if (bytes > maxBytes) {
        throw new ExchangeError('answer_too_large', `The answer is larger than ${maxBytes} bytes.`, {
          sent: true,
          status,
        });
      }
      yield chunk;
    }
  } catch (error) {
    throw explain(error, { sent: true, signal: context.signal, status });
  } finally {
    discard(body);
  }
}

function discard(body: Body): void {
  body.on('error', () => undefined);
  body.destroy();
}

interface FailureContext {
  readonly sent: boolean;
  readonly signal: AbortSignal;
  readonly status?: number;
}

function explain(error: unknown, context: FailureContext): ExchangeError {
  if (error instanceof ExchangeError) return error;
  if (error instanceof ConnectError)
    return new ExchangeError(error.code, error.message, { sent: false, cause: error });
  const details = { sent: context.sent, status: context.status, cause: error };
  if (context.signal.aborted) {
    return isTimeout(context.signal.reason)
      ? new ExchangeError('timeout', 'The answer took too long.', details)
      : new ExchangeError('aborted', 'The request was cancelled.', details);
  }
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError) {
    return new ExchangeError('timeout', 'The answer took too long.', details);
  }
  if (error instanceof errors.InvalidArgumentError || error instanceof TypeError) {
    return new ExchangeError('invalid_request', 'The request cannot be sent.', details);
  }
  return new ExchangeError(
    'connection_lost',
    'The connection broke before the answer was complete.',
    details,
  );
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === 'TimeoutError';
}

function flattenHeaders(headers: Dispatcher.ResponseData['headers']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}
