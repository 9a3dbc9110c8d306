import { z } from 'zod';
import type { Problems } from '../desk.ts';
import type { JobDesk } from '../job-desk.ts';
import { rendered } from '../job.ts';
import type { Job } from '../job.ts';
import { json, refusals } from '../wire.ts';
import type { Mistake } from '../wire.ts';

/** What the three services of Google have in common. */

/** The error body of every Google API; `param` names the quota that is used up. */
export const googleError = refusals(({ status, code, message, param }) => {
  const quota = { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId: param }] };
  const details = param === '' ? undefined : [quota];
  return json(status, { error: { code: status, message, status: code, details } });
});
/** What interactions say of a wrong request: a word in place of the number. */
export const interactionError = refusals(({ status, code, message }) =>
  json(status, { error: { code, message } }),
);

export const invalidArgument = ({ path, reason }: Mistake) =>
  googleError(400, 'INVALID_ARGUMENT', `Invalid value at '${path}': ${reason}`);
export const noKey = googleError(403, 'PERMISSION_DENIED', "Method doesn't allow unregistered callers.");
const wrongKey = googleError(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.');

/** The front end answers before any API does, and with an array. */
export const wrongKeyAtFront = refusals(({ status, code, message }) =>
  json(status, [{ error: { code: status, message, status: code } }]),
)(400, 'INVALID_ARGUMENT', wrongKey.message);

export const googleProblems = {
  unauthorized: wrongKey,
  forbidden: googleError(403, 'PERMISSION_DENIED', 'The caller does not have permission.'),
  'not-found': googleError(404, 'NOT_FOUND', 'Requested entity was not found.'),
  'rate-limited': googleError(429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted.'),
  'quota-exhausted': googleError(
    429,
    'RESOURCE_EXHAUSTED',
    'You exceeded your current quota.',
    'GenerateRequestsPerDayPerProjectPerModel',
  ),
  moderated: googleError(
    400,
    'INVALID_ARGUMENT',
    'The prompt was blocked because it violates the safety policy.',
  ),
  internal: googleError(500, 'INTERNAL', 'An internal error has occurred.'),
  unavailable: googleError(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
} satisfies Problems;

export const googleDetail = z.object({
  ...rendered,
  api: z.enum(['omni', 'veo']),
  /** The name that the answers give it: of an operation the whole path. */
  name: z.string(),
  samples: z.number(),
  /** Tokens of input and of output; Veo reports none. */
  tokens: z.tuple([z.number(), z.number()]).optional(),
  /** A link, the bytes, or a bucket of the caller. */
  delivery: z.enum(['uri', 'inline', 'bucket']),
  bucket: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  userMetadata: z.unknown().optional(),
});
export type GoogleDetail = z.infer<typeof googleDetail>;
export type GoogleJob = Job<GoogleDetail>;
export type GoogleDesk = JobDesk<GoogleDetail>;

export const expiresAfterMs = 86_400_000;
export const base64 = z.string().regex(/^[A-Za-z0-9+/]+=*$/, 'must be base64');
export const mimeType = 'video/mp4';

/** Of the Files API: it works with the key only. */
export function fileUri({ task, world }: GoogleJob): string {
  return `${world.parts.origin}/google/v1beta/files/${task.id}:download?alt=media`;
}

export function bucketUri({ task, detail }: GoogleJob, sample = 0): string {
  return `${detail.bucket ?? ''}/${task.id}/sample_${sample}.mp4`;
}
