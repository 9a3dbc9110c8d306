import { ApiError } from '../shared/api.js';
import { randomId } from '../shared/random-id.js';
import { useRef } from '../shared/preact.js';

/** @typedef {{ path: string, body: Record<string, unknown> }} Request */
/** @typedef {{ id?: string, data?: import('./types.js').Task['data'] }} Answer */

/** In milliseconds. This is long because a gateway that stores no files responds only when the image is ready. */
const imageAnswerMs = 600_000;

/**
 * If a response is lost, the repeated request sends the same idempotency key, so nothing is created twice.
 * @param {import('../shared/api.js').Api} api
 */
export function useCreate(api) {
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
      // The gateway rejected this request, so a corrected one needs a new key.
      if (error instanceof ApiError && error.status === 400) unanswered.current.delete(text);
      if (!(error instanceof ApiError) || !('async' in body) || error.param !== 'async') throw error;
      // This gateway stores no files, so there would be no link. Ask for the image in the response.
      const { async: _, ...atOnce } = body;
      return create({ path, body: { ...atOnce, response_format: 'b64_json' } });
    }
  }

  return create;
}
