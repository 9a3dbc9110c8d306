import { ApiError } from '../shared/api.js';
import { randomId } from '../shared/random-id.js';
import { useRef } from '../shared/preact.js';

/** @typedef {{ path: string, body: Record<string, unknown> }} Request */
/** @typedef {{ id?: string, data?: import('./types.js').Task['data'] }} Answer */

/** Without stored files, an image model responds only once the image is ready. */
const imageAnswerMs = 600_000;

/**
 * Creates each request only once: after a lost response, it repeats the request with the same idempotency key.
 *
 * @param {import('../shared/api.js').Api} api
 */
export function useCreate(api) {
  /** The idempotency keys of requests that got no response, by request. */
  const unanswered = useRef(/** @type {Map<string, string>} */ (new Map()));

  /**
   * @param {Request} asked
   * @returns {Promise<Answer>}
   */
  async function create({ path, body }) {
    const text = JSON.stringify([path, body]);
    const key = unanswered.current.get(text) ?? randomId(16);
    unanswered.current.set(text, key);
    const headers = { 'idempotency-key': key };
    try {
      const answer = await api.post(path, body, { answerMs: imageAnswerMs, headers });
      unanswered.current.delete(text);
      return answer;
    } catch (error) {
      // The response is known, so another attempt would be a new request.
      if (error instanceof ApiError && error.status === 400) unanswered.current.delete(text);
      if (!(error instanceof ApiError) || !('async' in body) || error.param !== 'async') throw error;
      // The gateway stores no files to link to, so the response must contain the image.
      const { async: _, ...atOnce } = body;
      return create({ path, body: { ...atOnce, response_format: 'b64_json' } });
    }
  }

  return create;
}
