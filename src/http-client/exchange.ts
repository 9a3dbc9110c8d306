import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Agent, errors, type Dispatcher } from 'undici';
import { ConnectError, createConnector, type ConnectorOptions } from './connector.ts';

type GuardedFailure =
  | ConnectError['code']
  | 'invalid_request'
  | 'aborted'
  | 'timeout'
  | 'connection_lost'
  | 'encoded_answer'
  | 'answer_too_large'
  | 'bad_status'
  | 'too_many_redirects';

export class GuardedRequestError extends Error {
  override readonly name = 'GuardedRequestError';
  readonly code: GuardedFailure;
  readonly sent: boolean;
  readonly status: number | undefined;

  constructor(code: GuardedFailure, message: string, { sent, status, cause }: FailureDetails) {
    super(message, { cause });
    this.code = code;
    this.sent = sent;
    this.status = status;
  }
}

interface FailureDetails {
  readonly sent: boolean;
  readonly status?: number | undefined;
  readonly cause?: unknown;
}

export interface AgentLimits extends ConnectorOptions {
  readonly connectionsPerOrigin: number;
  /**
   * In milliseconds. Must be shorter than the servers' limits, so that no request is written to a connection that the
   * server is closing.
   */
  readonly idleTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
}

export function createAgent(limits: AgentLimits): Agent {
  return new Agent({
    connect: createConnector(limits),
    connections: limits.connectionsPerOrigin,
    // Sends one request at a time, so that a broken connection affects only that request.
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
  /** If the body is a stream, `headers` must contain its length. */
  readonly body?: string | Readable;
  readonly signal: AbortSignal;
  /** The longest pause in the response body, in milliseconds. 0 means no limit. Defaults to the agent's limit. */
  readonly bodyTimeoutMs?: number;
  readonly onSend?: () => void;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /**
   * Yields the body without decoding its content-encoding. Breaking out of the loop closes the connection.
   * @throws GuardedRequestError, also if the body exceeds `maxBytes`
   */
  read(maxBytes: number): AsyncGenerator<Uint8Array, void, undefined>;
  discard(): void;
}

/** Sends a request at most once and resolves when the response headers have arrived. Redirects are not followed. */
export async function exchange(agent: Agent, options: ExchangeOptions): Promise<Answer> {
  const { method, body = null, signal } = options;
  const conversation = new Conversation(signal, options.onSend);
  try {
    signal.throwIfAborted();
    const { origin, pathname, search } = new URL(options.url);
    const headers = { 'accept-encoding': 'identity', ...options.headers };
    const timing = options.bodyTimeoutMs === undefined ? {} : { bodyTimeout: options.bodyTimeoutMs };
    agent.dispatch({ origin, path: pathname + search, method, headers, body, ...timing }, conversation);
    return await conversation.answer;
  } catch (error) {
    throw explain(error, { sent: conversation.isSent, signal });
  }
}

export function requireReadable(answer: Answer, maxBytes: number): void {
  const { status, headers } = answer;
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  const isEncoded = encoding !== '' && encoding !== 'identity';
  if (!isEncoded && !(Number(headers['content-length'] ?? 0) > maxBytes)) return;
  answer.discard();
  if (!isEncoded) throw answerTooLarge(maxBytes, status);
  const message = 'The response is encoded, although the request asked for an unencoded response.';
  throw new GuardedRequestError('encoded_answer', message, { sent: true, status });
}

/** If this much of a body is waiting for the reader, the upstream is paused. */
const waitingBytesMax = 64 * 1024;
/** An unwanted body up to this size is read to the end, so that the connection can be reused. */
const drainedBytesMax = 64 * 1024;

/**
 * Refuses to be sent twice. undici would send a request again if it assumes that the first one was not processed, and a
 * wrong assumption could cost money.
 */
class Conversation implements Dispatcher.DispatchHandler {
  readonly answer: Promise<Answer>;
  isSent = false;
  readonly #signal: AbortSignal;
  readonly #onSend: (() => void) | undefined;
  #resolve: (answer: Answer) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;
  readonly #chunks: Uint8Array[] = [];
  #waitingBytes = 0;
  #isUnwanted = false;
  #status = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #end: { readonly error?: Error } | undefined;
  #wake: () => void = () => undefined;

  constructor(signal: AbortSignal, onSend: (() => void) | undefined) {
    this.#signal = signal;
    this.#onSend = onSend;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // If the request could not be sent, nobody awaits this promise, so prevent an unhandled rejection.
    this.answer.catch(() => undefined);
    signal.addEventListener('abort', this.#abort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.isSent) {
      controller.abort(new Error('The request was aborted, because it would have been sent twice.'));
      return;
    }
    this.#controller = controller;
    if (this.#signal.aborted) {
      controller.abort(new Error('aborted before it was sent'));
      return;
    }
    this.isSent = true;
    this.#onSend?.();
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#status = status;
    this.#resolve({
      status,
      headers: flattenHeaders(headers),
      read: (maxBytes) => this.#read(maxBytes),
      discard: () => this.#discard(headers['content-length']),
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#isUnwanted) return;
    this.#chunks.push(chunk);
    this.#waitingBytes += chunk.byteLength;
    if (this.#waitingBytes > waitingBytesMax) controller.pause();
    this.#wake();
  }

  onResponseEnd(): void {
    this.#finish({});
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#finish({ error });
    this.#reject(error);
  }

  #finish(end: { readonly error?: Error }): void {
    this.#end ??= end;
    this.#signal.removeEventListener('abort', this.#abort);
    this.#wake();
  }

  readonly #abort = (): void => {
    if (this.#end !== undefined) return;
    const error = new Error('aborted');
    this.#reject(error);
    this.#controller?.abort(error);
  };

  async *#read(maxBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
    const status = this.#status;
    let bytes = 0;
    try {
      for (;;) {
        const chunk = await this.#next();
        if (chunk === undefined) return;
        bytes += chunk.byteLength;
        if (bytes > maxBytes) throw answerTooLarge(maxBytes, status);
        yield chunk;
      }
    } catch (error) {
      throw explain(error, { sent: true, signal: this.#signal, status });
    } finally {
      this.#close();
    }
  }

  async #next(): Promise<Uint8Array | undefined> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#waitingBytes -= chunk.byteLength;
        return chunk;
      }
      if (this.#end?.error !== undefined) throw this.#end.error;
      if (this.#end !== undefined) return undefined;
      // Create the promise before resuming, because `resume` delivers waiting data synchronously.
      const more = new Promise<void>((resolve) => (this.#wake = resolve));
      this.#controller?.resume();
      await more;
    }
  }

  #discard(contentLength: string | undefined): void {
    if (contentLength === undefined || !(Number(contentLength) <= drainedBytesMax)) {
      this.#close();
      return;
    }
    this.#isUnwanted = true;
    this.#chunks.length = 0;
    this.#controller?.resume();
  }

  #close(): void {
    if (this.#end === undefined)
      this.#controller?.abort(new Error('The rest of the response is not needed.'));
  }
}

function answerTooLarge(maxBytes: number, status: number | undefined): GuardedRequestError {
  return new GuardedRequestError('answer_too_large', `The response is larger than ${maxBytes} bytes.`, {
    sent: true,
    status,
  });
}

interface FailureContext {
  readonly sent: boolean;
  readonly signal: AbortSignal;
  readonly status?: number;
}

function explain(error: unknown, context: FailureContext): GuardedRequestError {
  if (error instanceof GuardedRequestError) return error;
  if (error instanceof ConnectError)
    return new GuardedRequestError(error.code, error.message, { sent: false, cause: error });
  const details = { sent: context.sent, status: context.status, cause: error };
  if (context.signal.aborted) {
    return isTimeout(context.signal.reason)
      ? new GuardedRequestError('timeout', 'The response took too long.', details)
      : new GuardedRequestError('aborted', 'The request was cancelled.', details);
  }
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError) {
    return new GuardedRequestError('timeout', 'The response took too long.', details);
  }
  if (error instanceof errors.InvalidArgumentError || error instanceof TypeError) {
    return new GuardedRequestError('invalid_request', 'The request cannot be sent.', details);
  }
  return new GuardedRequestError(
    'connection_lost',
    'The connection broke before the response was complete.',
    details,
  );
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === 'TimeoutError';
}

function flattenHeaders(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}
