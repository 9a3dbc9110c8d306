import { json, refusals } from '../engine.ts';
import type { Desk, Job, Mistake, Problems, Refusal, Rendered } from '../engine.ts';

export function falBody({ code: type, message, param }: Refusal): Record<string, unknown> {
  if (param === '') return { detail: message, error_type: type === '' ? undefined : type };
  const url = `https://docs.fal.ai/errors#${type}`;
  return { detail: [{ loc: param.split('.'), msg: message, type, url }] };
}

export const falError = refusals((refusal) =>
  json(refusal.status, falBody(refusal), {
    'x-fal-billable-units': '0',
    'x-fal-error-type': String(refusal.code === '' ? 'unknown' : refusal.code),
    'x-fal-retryable': String(refusal.status >= 500),
  }),
);
export const invalidInput = ({ path, reason, isAbsent }: Mistake) =>
  isAbsent
    ? falError(422, 'missing', 'field required', `body.${path}`)
    : falError(422, 'value_error', reason, path === '' ? 'body' : `body.${path}`);

export const falProblems = {
  unauthorized: falError(401, '', 'Authentication is required to access this application'),
  forbidden: falError(403, '', 'Access denied'),
  'not-found': falError(404, '', 'Application not found'),
  'rate-limited': falError(429, '', 'Rate limit exceeded'),
  'quota-exhausted': falError(403, '', 'User is locked. Reason: Exhausted balance. Top up your balance.'),
  internal: falError(500, 'internal_server_error', 'Internal Server Error'),
  unavailable: falError(503, 'runner_scheduling_failure', 'Service unavailable'),
} satisfies Problems;

const endings: Readonly<Record<string, string>> = {
  400: 'bad_request',
  499: 'client_cancelled client_disconnected',
  500: 'internal_server_error internal_error runner_server_error',
  502: 'downstream_service_error',
  503: 'downstream_service_unavailable runner_scheduling_failure runner_disconnected runner_connection_error runner_incomplete_response',
  504: 'generation_timeout request_timeout startup_timeout',
};

function endingOf(type: string): Refusal {
  const status = Object.keys(endings).find((key) => endings[key]?.split(' ').includes(type));
  if (status !== undefined) return falError(Number(status), type, `The request ended with ${type}.`);
  return falError(422, type, `The input was not accepted: ${type}.`, 'body.image_url');
}

const policy = 'content_policy_violation';
const inputRefused = falError(422, policy, 'The content was flagged by a content checker.', 'body.prompt');
const outputRefused = falError(422, policy, 'Output video has sensitive content.', 'body');
const noMedia = falError(422, 'no_media_generated', 'The model gave no media.', 'body');

export interface FalDetail extends Rendered {
  readonly units: number;
  readonly seed?: number;
  readonly input: unknown;
  readonly mistake?: { readonly message: string; readonly type: string; readonly loc: string };
}
export type FalJob = Job<FalDetail>;
export type FalDesk = Desk<FalDetail>;

export interface FalState {
  readonly word: string;
  readonly isEnded: boolean;
  readonly since: number;
  readonly error?: Refusal;
}

export function stateOf(job: FalJob): FalState {
  const { phase, since } = job;
  if (phase === 'queued') return { word: 'IN_QUEUE', isEnded: false, since };
  // The vendor has only three status words. The fault `unknown` adds one.
  if (!job.isOver) return { word: phase === 'unknown' ? 'RETRYING' : 'IN_PROGRESS', isEnded: false, since };
  const error = errorOf(job);
  return { word: 'COMPLETED', isEnded: true, since, ...(error === undefined ? {} : { error }) };
}

function errorOf({ detail, phase, faults }: FalJob): Refusal | undefined {
  const { mistake } = detail;
  if (phase === 'cancelled') return endingOf('client_cancelled');
  if (phase === 'expired') return endingOf('generation_timeout');
  if (mistake !== undefined) return falError(422, mistake.type, mistake.message, mistake.loc);
  if (faults.has('moderation-in-task'))
    return faults.text('moderation-in-task') === 'input' ? inputRefused : outputRefused;
  if (faults.has('failed')) return endingOf(faults.text('failed') ?? 'internal_server_error');
  return faults.has('item-error') ? noMedia : undefined;
}

export function outputOf(job: FalJob, since: number): Record<string, unknown> {
  const { task, detail, faults } = job;
  const { seed, width, height } = detail;
  const [url] = job.links({ from: since });
  if (detail.images === undefined) {
    const file = { content_type: 'video/mp4', file_name: 'video.mp4', file_size: 4_352_150 };
    return { video: url === undefined ? undefined : { url, ...file }, seed };
  }
  return {
    images: url === undefined ? [] : [{ url, width, height, content_type: 'image/png' }],
    seed,
    has_nsfw_concepts: [faults.has('item-moderation')],
    prompt: task.prompt,
    timings: { inference: task.renderMs / 1000 },
  };
}

export function unitsOf(job: FalJob): string {
  return String(job.billed(job.detail.units) / 100);
}
