import { json, refusals } from '../engine.ts';
import type { Desk, Job, Mistake, Problems, Rendered } from '../engine.ts';

export const googleError = refusals(({ status, code, message, param }) => {
  const quota = { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId: param }] };
  const details = param === '' ? undefined : [quota];
  return json(status, { error: { code: status, message, status: code, details } });
});
export const interactionError = refusals(({ status, code, message }) =>
  json(status, { error: { code, message } }),
);

export const invalidArgument = ({ path, reason }: Mistake) =>
  googleError(400, 'INVALID_ARGUMENT', `Invalid value at '${path}': ${reason}`);
export const noKey = googleError(403, 'PERMISSION_DENIED', "Method doesn't allow unregistered callers.");
const wrongKey = googleError(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.');

/** The front end reports a wrong key before the request reaches any API. It wraps the error in an array. */
export const wrongKeyAtFront = refusals(({ status, code, message }) =>
  json(status, [{ error: { code: status, message, status: code } }]),
)(400, 'INVALID_ARGUMENT', wrongKey.message);

const policy = 'The prompt was blocked because it violates the safety policy.';
const dailyQuota = 'GenerateRequestsPerDayPerProjectPerModel';

export const googleProblems = {
  unauthorized: wrongKey,
  forbidden: googleError(403, 'PERMISSION_DENIED', 'The caller does not have permission.'),
  'not-found': googleError(404, 'NOT_FOUND', 'Requested entity was not found.'),
  'rate-limited': googleError(429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted.'),
  'quota-exhausted': googleError(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', dailyQuota),
  moderated: googleError(400, 'INVALID_ARGUMENT', policy),
  internal: googleError(500, 'INTERNAL', 'An internal error has occurred.'),
  unavailable: googleError(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
} satisfies Problems;

export interface GoogleDetail extends Rendered {
  readonly api: 'omni' | 'veo';
  readonly name: string;
  readonly samples: number;
  readonly tokens?: readonly [number, number];
  readonly delivery: 'uri' | 'inline' | 'bucket';
  readonly bucket: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly userMetadata: unknown;
}
export type GoogleJob = Job<GoogleDetail>;
export type GoogleDesk = Desk<GoogleDetail>;

export const mimeType = 'video/mp4';

export function fileUri({ id, world }: GoogleJob): string {
  return `${world.parts.origin}/google/v1beta/files/${id}:download?alt=media`;
}

export function bucketUri({ id, detail }: GoogleJob, sample = 0): string {
  return `${detail.bucket ?? ''}/${id}/sample_${sample}.mp4`;
}
