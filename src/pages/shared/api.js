import { root } from './root.js';

/** @typedef {ReturnType<typeof createApi>} Api */
/**
 * @typedef {{ answerMs?: number, headers?: Record<string, string> }} Sending `answerMs` limits how long to wait for the
 * response.
 */

export class ApiError extends Error {
  /** @param {{ status: number, code: string, param: string, message: string, requestId: string }} refusal */
  constructor({ status, code, param, message, requestId }) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.param = param;
    this.requestId = requestId;
  }
}

export class OfflineError extends Error {}

/**
 * @param {unknown} thrown
 * @returns {Error}
 */
export function errorOf(thrown) {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

const answerMsMax = 30_000;
const keptAnswersMax = 50;

/**
 * A repeated GET sends the previous response's ETag, so that an unchanged response arrives without a body.
 *
 * @param {{ client: string, token: () => string | undefined, onExpired: () => void }} options `client`: the name in the
 * audit log. `onExpired`: called if the token is invalid or has expired.
 */
export function createApi({ client, token, onExpired }) {
  /** @type {Map<string, { etag: string, body: unknown }>} */
  const kept = new Map();

  /**
   * @param {'GET' | 'POST' | 'PUT' | 'DELETE'} method
   * @param {string} path
   * @param {{ signal?: AbortSignal | undefined, body?: unknown } & Sending} [options] `body`: a form, or a value to
   * send as JSON
   * @returns {Promise<any>} The caller declares the type, as in the OpenAPI document.
   */
  async function call(method, path, { body, signal, answerMs = answerMsMax, headers } = {}) {
    const isForm = body instanceof FormData;
    const known = method === 'GET' ? kept.get(path) : undefined;
    const { response, text } = await send(path, {
      method,
      cache: 'no-store',
      credentials: 'omit',
      signal: AbortSignal.any([AbortSignal.timeout(answerMs), ...(signal === undefined ? [] : [signal])]),
      headers: {
        'x-mediary-client': client,
        authorization: `Bearer ${token() ?? ''}`,
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
        ...headers,
        ...(known === undefined ? {} : { 'if-none-match': known.etag }),
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
    if (response.status === 304 && known !== undefined) return known.body;
    const answer = bodyOf(text);
    if (response.status === 401) onExpired();
    if (!response.ok) throw refusalOf(response, answer);
    const etag = response.headers.get('etag');
    if (method === 'GET' && etag !== null) keep(path, { etag, body: answer });
    return answer;
  }

  /**
   * @param {string} path
   * @param {{ etag: string, body: unknown }} answer
   */
  function keep(path, answer) {
    kept.delete(path);
    kept.set(path, answer);
    const [oldest] = kept.keys();
    if (kept.size > keptAnswersMax && oldest !== undefined) kept.delete(oldest);
  }

  return {
    /**
     * @param {string} path
     * @param {AbortSignal} [signal]
     */
    get: (path, signal) => call('GET', path, { signal }),
    /**
     * @param {string} path
     * @param {unknown} body
     * @param {Sending} [options]
     */
    post: (path, body, options) => call('POST', path, { body, ...options }),
    /**
     * @param {string} path
     * @param {unknown} body
     */
    put: (path, body) => call('PUT', path, { body }),
    /** @param {string} path */
    remove: (path) => call('DELETE', path),
  };
}

/**
 * If the connection breaks before the end of the body, the request fails as if there were no response.
 *
 * @param {string} path
 * @param {RequestInit} request
 */
async function send(path, request) {
  try {
    const response = await fetch(new URL(path.slice(1), root), request);
    return { response, text: await response.text() };
  } catch (error) {
    if (request.signal?.aborted === true && error instanceof DOMException && error.name === 'AbortError')
      throw error;
    throw new OfflineError('The gateway does not respond.', { cause: error });
  }
}

/**
 * @param {string} text
 * @returns {unknown}
 */
function bodyOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * @param {Response} response
 * @param {unknown} answer
 */
function refusalOf(response, answer) {
  const error = fieldsOf(fieldsOf(answer).error);
  const { code, param, message } = error;
  return new ApiError({
    status: response.status,
    code: typeof code === 'string' ? code : '',
    param: typeof param === 'string' ? param : '',
    message: typeof message === 'string' ? message : `The gateway responded with status ${response.status}.`,
    requestId: response.headers.get('x-request-id') ?? '',
  });
}

/**
 * @param {unknown} value
 * @returns {Record<string, unknown>}
 */
function fieldsOf(value) {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
