import { createHmac, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Problem } from '../disturb.ts';
import { check, json, parseJson, WireError } from '../wire.ts';
import type { Reply } from '../wire.ts';

/** What Vidu says and reads, and how it signs its callbacks. */

export class ViduError extends WireError {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }

  reply(): Reply {
    const { status: code, reason, message } = this;
    return json(code, { code, reason, message, metadata: { trace_id: randomUUID() } });
  }
}

export const viduProblems: Readonly<Record<Problem, ViduError>> = {
  unauthorized: new ViduError(401, 'Unauthorized', 'invalid token'),
  forbidden: new ViduError(403, 'Forbidden', 'no access'),
  'not-found': new ViduError(404, 'TaskNotFound', 'task not found'),
  'rate-limited': new ViduError(429, 'TooManyRequests', 'too many requests'),
  'quota-exhausted': new ViduError(400, 'CreditInsufficient', 'credit insufficient'),
  moderated: new ViduError(400, 'TaskPromptPolicyViolation', 'the prompt violates the policy'),
  internal: new ViduError(500, 'InternalServiceFailure', 'internal failure'),
  unavailable: new ViduError(503, 'SystemThrottling', 'the system is busy'),
};

const address = z.string().regex(/^(?:https?:\/\/\S+|data:image\/[\w.+-]+;base64,\S+)$/);
/** Closed: what the vendor does not know is refused. */
const bodySchema = z.strictObject({
  model: z.string().min(1),
  prompt: z.string().max(5000).default(''),
  images: z.array(address).default([]),
  duration: z.int().min(1).max(16).default(5),
  resolution: z.enum(['360p', '540p', '720p', '1080p']).default('720p'),
  aspect_ratio: z.enum(['16:9', '9:16', '1:1', '4:3', '3:4']).optional(),
  seed: z.int().optional(),
  audio: z.boolean().optional(),
  watermark: z.boolean().optional(),
  movement_amplitude: z.enum(['auto', 'small', 'medium', 'large']).optional(),
  payload: z.string().max(1_048_576).default(''),
  callback_url: z.url().optional(),
});

/** How many images each way to a video takes, and whether it takes a ratio. */
const ways = {
  text2video: { least: 0, most: 0, takesRatio: true },
  img2video: { least: 1, most: 1, takesRatio: false },
  'start-end2video': { least: 2, most: 2, takesRatio: false },
  reference2video: { least: 1, most: 7, takesRatio: true },
};
export type ViduWay = keyof typeof ways;

/** @throws {ViduError} 400 */
export function readViduBody(raw: Buffer, way: ViduWay) {
  const body = check(
    bodySchema,
    parseJson(raw),
    ({ path, isAbsent }) =>
      new ViduError(400, isAbsent ? 'FieldLacking' : 'FieldInvalid', `invalid field: ${path}`),
  );
  const { least, most, takesRatio } = ways[way];
  if (body.images.length < least || body.images.length > most)
    throw new ViduError(400, 'FieldItemCountOutOfRange', 'invalid field: images');
  if (body.aspect_ratio !== undefined && !takesRatio)
    throw new ViduError(400, 'FieldUnwanted', 'unwanted field: aspect_ratio');
  return body;
}

/** The body is not signed. */
export function signVidu({ pathname, search }: URL, key: string): Record<string, string> {
  const [date, nonce] = [new Date().toUTCString(), randomUUID()];
  const text = `POST\n${pathname}\n${search.slice(1)}\nvidu\n${date}\nDate:${date}\nx-request-nonce:${nonce}\n`;
  return {
    date,
    'x-request-nonce': nonce,
    'x-hmac-algorithm': 'hmac-sha256',
    'x-hmac-access-key': 'vidu',
    'x-hmac-signed-headers': 'Date;x-request-nonce',
    'x-hmac-signature': createHmac('sha256', key).update(text).digest('base64'),
  };
}
