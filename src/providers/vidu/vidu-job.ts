import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import type { JsonObject, VideoRequest } from '../../models/request.ts';
import type { FailureTable, Refusal } from '../shared/failure-table.ts';
import {
  isSuccess,
  optionalNumber,
  optionalText,
  readableItems,
  refusalError,
  signedUrlExpiry,
  unknownJob,
  unreadableError,
} from '../shared/http-outcome.ts';
import { failedJob } from '../shared/job-status.ts';
import { vendorBalance } from '../shared/vendor-balance.ts';
import { optionalAmount, vendorCost } from '../shared/vendor-cost.ts';
import { UpstreamError } from '../provider.ts';
import type {
  HttpRequestOptions,
  HttpResponse,
  LostSubmit,
  Operation,
  OperationStatus,
  ProviderContext,
  SubmitContext,
  Submitted,
  VendorBalance,
} from '../provider.ts';

/** Covers rejected requests and failed jobs. Source: the vendor's errors page, 2026-11. */
export const viduFailures: FailureTable = [
  { code: /^TaskPromptPolicyViolation$/, outcome: 'rejected', class: 'moderation_input', input: 'prompt' },
  { code: /^AuditSubmitIllegal$/, outcome: 'rejected', class: 'moderation_input' },
  { code: /^CreationPolicyViolation$/, outcome: 'rejected', class: 'moderation_output' },
  {
    code: /^(?:CreditInsufficient|ModelUnavailable|Unauthorized|Forbidden)$/,
    outcome: 'unavailable',
    class: 'quota',
  },
  {
    code: /^(?:QuotaExceeded|TooManyRequests|SystemThrottling|OperationInProcess)$/,
    outcome: 'throttled',
    class: 'capacity',
  },
  { code: /^(?:UserCancelled|Canceled)$/, class: 'cancelled' },
  {
    code: /^(?:BadRequest|Field(?:Lacking|Unwanted|Invalid|ItemCountOutOfRange)|PageSizeOutOfRange|Conflict)$/,
    outcome: 'rejected',
    class: 'invalid_input',
  },
  { code: /^Image(?:DownloadFailure|FormatInvalid)$/, outcome: 'rejected', class: 'invalid_input' },
  // A create request used a nonexistent path.
  { code: /^(?:Task|Creation)?NotFound$/, outcome: 'unavailable', class: 'quota' },
  { code: /^InternalServiceFailure$/, class: 'internal' },
];

type Call = Pick<HttpRequestOptions, 'method' | 'json'> & { readonly path: string };

const refusalSchema = z.object({ reason: z.string().min(1), message: z.string().catch('') });

function readRefusal(json: unknown): Refusal | undefined {
  const said = refusalSchema.safeParse(json).data;
  return said === undefined ? undefined : { code: said.reason, message: said.message };
}

async function call({ path, ...options }: Call, context: ProviderContext): Promise<HttpResponse> {
  const { request, baseUrl, signal, credential } = context;
  const headers = { authorization: `Token ${credential.apiKey}` };
  const answer = await request({ ...options, url: `${baseUrl}/ent/v2/${path}`, headers, signal });
  if (isSuccess(answer)) return answer;
  const refusal = readRefusal(answer.json);
  if (answer.status === 404 && refusal !== undefined && path.startsWith('tasks/'))
    throw unknownJob(404, { message: refusal.message });
  throw refusalError(answer, refusal, viduFailures);
}

const creditsSchema = z.object({ remains: z.array(z.object({ credit_remain: z.number() })) });

export async function viduBalance(context: ProviderContext): Promise<VendorBalance> {
  const answer = await call({ method: 'GET', path: 'credits' }, context);
  const parts = creditsSchema.safeParse(answer.json).data?.remains;
  const amount = parts?.reduce((sum, { credit_remain: left }) => sum + left, 0);
  return vendorBalance(answer, { amount, unit: 'credits' });
}

const taskId = z.union([z.string().min(1), z.number().transform(String)]);
const createdSchema = z.object({ task_id: taskId });

export async function submitVidu(path: string, json: JsonObject, context: SubmitContext): Promise<Submitted> {
  const answer = await call({ method: 'POST', path, json }, context);
  const id = createdSchema.safeParse(answer.json).data?.task_id;
  if (id === undefined) throw unreadableError(answer, 'it has no id');
  return submitted(id);
}

function submitted(id: string): Submitted {
  return { operation: { id }, traceId: id };
}

const jobSchema = z.object({
  state: optionalText,
  err_code: optionalText,
  credits: optionalAmount,
  payload: optionalText,
  progress: optionalNumber,
  creations: readableItems(z.object({ url: z.string().min(1) }))
    .nullish()
    .catch(undefined),
});

async function ask(id: string, context: ProviderContext) {
  const path = `tasks/${encodeURIComponent(id)}/creations`;
  const answer = await call({ method: 'GET', path }, context);
  return { answer, job: jobSchema.safeParse(answer.json).data };
}

export async function viduStatus({ id }: Operation, context: ProviderContext): Promise<OperationStatus> {
  const { answer, job } = await ask(id, context);
  if (job?.state === undefined) throw unreadableError(answer, 'it is not a job');
  const cost = vendorCost(job.credits, 'credits');
  switch (job.state) {
    case 'success': {
      const items = (job.creations ?? []).map(({ url }) => defined({ url, expiresAt: signedUrlExpiry(url) }));
      if (items.length === 0) throw unreadableError(answer, 'the job succeeded but has no file');
      return defined({ state: 'succeeded' as const, items, facts: {}, cost });
    }
    case 'failed':
      return failedJob(viduFailures, { code: job.err_code });
    default:
      return pending(job.state, job.progress);
  }
}

function pending(state: string, progress?: number): OperationStatus {
  const isWaiting = state === 'created' || state === 'queueing';
  return defined({
    state: 'pending' as const,
    phase: isWaiting ? ('submitted' as const) : ('running' as const),
    progress: progress === undefined || isWaiting ? undefined : Math.min(100, Math.round(progress)),
  });
}

/** The vendor responds with 400 if the job has left the queue and can no longer be cancelled. */
export async function cancelVidu(
  { id }: Operation,
  context: ProviderContext,
): Promise<'cancelled' | 'refused'> {
  try {
    const path = `tasks/${encodeURIComponent(id)}/cancel`;
    await call({ method: 'POST', path, json: { id } }, context);
    return 'cancelled';
  } catch (error) {
    if (error instanceof UpstreamError && error.outcome === 'rejected' && !error.gone) return 'refused';
    throw error;
  }
}

export const viduPageSize = 100;
const listSchema = z.object({
  tasks: readableItems(z.object({ id: taskId, state: optionalText, prompt: optionalText })),
  next_page_token: optionalText,
});

async function page(query: URLSearchParams, context: ProviderContext) {
  query.set('pager.pagesz', String(viduPageSize));
  const answer = await call({ method: 'GET', path: `tasks?${query.toString()}` }, context);
  const read = listSchema.safeParse(answer.json).data;
  if (read === undefined) throw unreadableError(answer, 'it is not a list of jobs');
  return read;
}

/**
 * Lists jobs. Omits finished ones, because their list entries lack the cost and the failure reason. Those are then
 * polled individually.
 */
export async function listVidu(
  operations: readonly Operation[],
  context: ProviderContext,
): Promise<ReadonlyMap<string, OperationStatus>> {
  const query = new URLSearchParams();
  for (const { id } of operations) query.append('task_ids', id);
  const { tasks } = await page(query, context);
  const known = new Set(operations.map(({ id }) => id));
  return new Map(
    tasks.flatMap(({ id, state }) =>
      state === undefined || state === 'success' || state === 'failed' || !known.has(id)
        ? []
        : [[id, pending(state)] as const],
    ),
  );
}

const pagesMax = 5;
const candidatesMax = 20;

/**
 * The list lacks `payload`, which contains the marker. Each listed job that was created around the submission and has
 * the same prompt is therefore requested individually.
 */
export async function findVidu(
  { request, marker, sentAfter, sentBefore }: LostSubmit<VideoRequest>,
  context: ProviderContext,
): Promise<readonly Submitted[]> {
  const query = new URLSearchParams({
    'created_at.from': new Date(sentAfter).toISOString(),
    'created_at.to': new Date(sentBefore).toISOString(),
  });
  const candidates: string[] = [];
  for (let pages = 0; pages < pagesMax && candidates.length < candidatesMax; pages += 1) {
    // oxlint-disable-next-line no-await-in-loop -- a page names the next
    const { tasks, next_page_token: next } = await page(query, context);
    const same = tasks.filter(({ prompt = '' }) => prompt.trim() === request.prompt.trim());
    candidates.push(...same.map(({ id }) => id));
    if (next === undefined) break;
    query.set('pager.page_token', next);
  }
  const asked = await Promise.all(
    candidates.slice(0, candidatesMax).map(async (id) => ({ id, ...(await ask(id, context)) })),
  );
  return asked.filter(({ job }) => job?.payload === marker).map(({ id }) => submitted(id));
}
