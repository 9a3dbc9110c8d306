import { z } from 'zod';
import {
  arkJobRefusal,
  arkRefusal,
  arkStatus,
  hasSettleFacts,
  readArkJob,
  readArkJobs,
} from './ark-answer.ts';
import type { ArkJob } from './ark-answer.ts';
import { checkArkVideo } from './ark-check.ts';
import { arkFacts } from './ark-facts.ts';
import { buildArkVideo } from './ark-request.ts';
import { countedSeconds, estimateSeedanceTokens } from '../shared/seedance-pricing.ts';
import { bearer, isSuccess, unreadableError } from '../shared/http-outcome.ts';
import type {
  HttpResponse,
  LostSubmit,
  Operation,
  OperationStatus,
  ProviderContext,
  SubmitContext,
  Submitted,
  VideoProvider,
} from '../provider.ts';
import { defined } from '../../base/defined.ts';
import type { VideoRequest } from '../../models/request.ts';

const tasksPath = '/contents/generations/tasks';
/** The vendor allows 500 ids per page, but they are part of the URL, and 140 ids already make it about 6 KB long. */
const listMax = 140;
const listBodyBytesMax = 4 * 1024 * 1024;
const findPageSize = 100;
const findPagesMax = 20;

/**
 * Volcengine Ark and BytePlus ModelArk. The operation is `{id}`. 3-D models, access key pair signatures, and the final
 * render of a draft (`draft_task`) are not supported. Our API has no field for the job that `draft_task` refers to.
 */
export const arkVideo: VideoProvider = {
  listMax,
  cancelUntil: 'queued',
  facts: arkFacts,
  check: checkArkVideo,
  submit,
  status,
  list,
  cancel,
  find,
  parseCallback: ({ body }) => ({ ended: endedSchema.safeParse(body).success }),
  estimateTokens: estimateSeedanceTokens,
  renders: (request, model) => defined({ seconds: countedSeconds(request, model) }),
};

const endedSchema = z.object({ status: z.enum(['succeeded', 'failed', 'expired', 'cancelled']) });
const createdSchema = z.object({ id: z.string().min(1).max(200) });

async function submit(request: VideoRequest, context: SubmitContext): Promise<Submitted> {
  const answer = await context.request({
    method: 'POST',
    url: context.baseUrl + tasksPath,
    headers: { ...bearer(context), 'x-client-request-id': context.marker },
    json: buildArkVideo(request, context),
    signal: context.signal,
  });
  if (!isSuccess(answer)) throw arkRefusal(answer);
  const created = createdSchema.safeParse(answer.json).data;
  if (created === undefined) throw unreadableError(answer, 'it has no id');
  return { operation: { id: created.id }, traceId: created.id };
}

async function status(operation: Operation, context: ProviderContext): Promise<OperationStatus> {
  const { job, answer } = await getJob(operation, context);
  const found = arkStatus(job);
  if (found === undefined) throw unreadableError(answer, 'the job succeeded but has no file');
  return found;
}

async function getJob(
  operation: Operation,
  context: ProviderContext,
): Promise<{ job: ArkJob; answer: HttpResponse }> {
  const answer = await context.request({
    method: 'GET',
    url: jobUrl(operation, context),
    ...authorizedGet(context),
  });
  if (!isSuccess(answer)) throw arkJobRefusal(answer);
  const job = readArkJob(answer.json);
  if (job === undefined) throw unreadableError(answer, 'it is not a job');
  return { job, answer };
}

/** Lists jobs. Omits finished ones whose list entry lacks facts for the charge. Those are then polled individually. */
async function list(
  operations: readonly Operation[],
  context: ProviderContext,
): Promise<ReadonlyMap<string, OperationStatus>> {
  const query = new URLSearchParams({ page_num: '1', page_size: String(listMax) });
  for (const { id } of operations) query.append('filter.task_ids', id);
  const found = new Map<string, OperationStatus>();
  for (const job of (await listPage(query, context)).jobs) {
    if (job.status === 'succeeded' && !hasSettleFacts(job)) continue;
    const read = arkStatus(job);
    if (read !== undefined) found.set(job.id, read);
  }
  return found;
}

async function listPage(
  query: URLSearchParams,
  context: ProviderContext,
): Promise<{ jobs: ArkJob[]; items: number }> {
  const url = `${context.baseUrl}${tasksPath}?${query.toString()}`;
  const answer = await context.request({
    method: 'GET',
    url,
    ...authorizedGet(context),
    bodyBytesMax: listBodyBytesMax,
  });
  if (!isSuccess(answer)) throw arkRefusal(answer);
  const page = readArkJobs(answer.json);
  if (page === undefined) throw unreadableError(answer, 'it is not a list');
  return page;
}

/**
 * DELETE would remove a finished job's record, and the upstream rejects it for a running job, so only a queued job is
 * cancelled. If the job starts between the two requests, the upstream responds with 409.
 */
async function cancel(operation: Operation, context: ProviderContext): Promise<'cancelled' | 'refused'> {
  const { job } = await getJob(operation, context);
  if (job.status === 'cancelled') return 'cancelled';
  if (job.status !== 'queued') return 'refused';
  const answer = await context.request({
    method: 'DELETE',
    url: jobUrl(operation, context),
    ...authorizedGet(context),
  });
  if (isSuccess(answer)) return 'cancelled';
  if (answer.status === 409) return 'refused';
  throw arkJobRefusal(answer);
}

/**
 * The list's order is undocumented, so all pages are read, up to 2000 jobs. Jobs with the caller's own
 * `safety_identifier` carry no marker and cannot be found.
 */
async function find(lost: LostSubmit<VideoRequest>, context: ProviderContext): Promise<readonly Submitted[]> {
  // A job can move from one page to another and appear twice, so collect by id.
  const found = new Map<string, Submitted>();
  for (let page = 1; page <= findPagesMax; page += 1) {
    const query = new URLSearchParams({ page_num: String(page), page_size: String(findPageSize) });
    const { jobs, items } = await listPage(query, context);
    for (const job of jobs) {
      if (carries(job, lost)) found.set(job.id, { operation: { id: job.id }, traceId: job.id });
    }
    if (items < findPageSize) break;
  }
  return [...found.values()];
}

function carries(job: ArkJob, lost: Omit<LostSubmit<VideoRequest>, 'request'>): boolean {
  if (job.safety_identifier !== lost.marker) return false;
  if (job.created_at === undefined) return true;
  // The upstream's timestamps are whole seconds, so they can be up to a second before the request.
  const createdAt = job.created_at * 1000;
  return createdAt >= lost.sentAfter - 1000 && createdAt <= lost.sentBefore;
}

function jobUrl({ id }: Operation, { baseUrl }: ProviderContext): string {
  return `${baseUrl}${tasksPath}/${encodeURIComponent(id)}`;
}

function authorizedGet(context: ProviderContext): { headers: Record<string, string>; signal: AbortSignal } {
  return { headers: bearer(context), signal: context.signal };
}
