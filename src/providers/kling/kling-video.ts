import { klingStatus, readKlingJob, readKlingJobs, type KlingJob } from './kling-answer.ts';
import { isUnknownJob, type KlingCall } from './kling-call.ts';
import { parseKlingCallback } from './kling-callback.ts';
import { klingFacts } from './kling-facts.ts';
import { isLegacyKling, klingInputs, readElements } from './kling-inputs.ts';
import { buildKlingVideo, legacyVideoPath, type KlingSubmission } from './kling-request.ts';
import { unknownJob, unreadableError } from '../shared/http-outcome.ts';
import { issue } from '../shared/request-issue.ts';
import { verifyStandardWebhook } from '../shared/standard-webhooks.ts';
import type {
  LostSubmit,
  Operation,
  OperationStatus,
  ProviderContext,
  RequestIssue,
  SubmitContext,
  Submitted,
  VideoProvider,
} from '../provider.ts';
import { readFacts } from '../shared/read-facts.ts';
import type { VideoRequest } from '../../models/request.ts';

/** The vendor does not document the maximum number of ids per query. One of its clients sends 50. */
const listMax = 50;
const findPageSize = 500;
const findPagesMax = 5;

/**
 * The upstream's model name determines the standard: the new one, or the legacy one for names such as `kling-v2-6`. The
 * operation is `{id}`, plus the query `path` in the legacy standard. Effects, extension, intermediate frames, lip-sync
 * (which needs a face found by an earlier call) and the legacy standard's motion control are not supported.
 */
export function createKlingVideo(call: KlingCall): VideoProvider {
  return {
    listMax,
    cancelUntil: 'never',
    facts: klingFacts,
    check: checkElements,
    submit: (request, context) => submitKling(call, buildKlingVideo(request, context), context),
    status: (operation, context) =>
      operation['path'] === undefined
        ? newStatus(call, operation, context)
        : legacyStatus(call, operation, context),
    list: (operations, context) => list(call, operations, context),
    find: (lost, context) => find(call, lost, context),
    parseCallback: parseKlingCallback,
    verifyCallback: verifyStandardWebhook,
  };
}

const elementsBesideFramesMax = 3;

/** Checks the shared limit of elements and references, which the facts table cannot express. */
function checkElements(request: VideoRequest, model: string): RequestIssue | undefined {
  const { firstFrame, references, extra } = request;
  const param = 'metadata.element_list';
  const elements = readElements(extra);
  if (elements === undefined) return issue(param, 'element_list must be a list of {"element_id"}.');
  const { media = {} } = readFacts(request, klingFacts, { model });
  if (elements.length === 0 || media.references === undefined) return undefined;
  const hasFrames = firstFrame !== undefined;
  const max = hasFrames ? elementsBesideFramesMax : media.references;
  return references.length + elements.length > max
    ? issue(
        hasFrames ? param : 'references',
        `The model accepts at most ${max} images and elements for this request.`,
      )
    : undefined;
}

export async function submitKling(
  call: KlingCall,
  { path, json }: KlingSubmission,
  context: SubmitContext,
): Promise<Submitted> {
  const { data, answer, requestId } = await call({ method: 'POST', path, json }, context);
  const job = readKlingJob(data);
  if (job === undefined) throw unreadableError(answer, 'it has no id');
  return { ...submitted(job, path), traceId: requestId ?? job.id };
}

function submitted({ id }: KlingJob, path: string): Submitted {
  return { operation: path.startsWith('/v1') ? { id, path } : { id }, traceId: id };
}

/** The vendor omits unknown ids, so this throws if the response does not contain the id. */
async function newStatus(
  call: KlingCall,
  operation: Operation,
  context: ProviderContext,
): Promise<OperationStatus> {
  const { jobs, answer } = await ask(call, { task_ids: operation.id }, context);
  const job = jobs.find(({ id }) => id === operation.id);
  if (job === undefined) throw unknownJob(answer.status);
  const status = klingStatus(job);
  if (status === undefined) throw unreadableError(answer, 'the job succeeded but has no file');
  return status;
}

function ask(call: KlingCall, query: Record<string, string>, context: ProviderContext) {
  return askMany(call, `/tasks?${new URLSearchParams(query).toString()}`, context);
}

async function askMany(call: KlingCall, path: string, context: ProviderContext) {
  const { data, answer } = await call({ method: 'GET', path }, context);
  const jobs = readKlingJobs(data);
  if (jobs === undefined) throw unreadableError(answer, 'it is not a list');
  return { jobs, answer };
}

/**
 * Lists jobs. Omits legacy jobs and jobs whose state the response does not reveal. Those are then polled individually.
 */
async function list(
  call: KlingCall,
  operations: readonly Operation[],
  context: ProviderContext,
): Promise<ReadonlyMap<string, OperationStatus>> {
  const ids = operations.flatMap(({ id, path }) => (path === undefined ? [id] : []));
  if (ids.length === 0) return new Map();
  const { jobs } = await ask(call, { task_ids: ids.join(',') }, context);
  return new Map(
    jobs.flatMap((job) => {
      const status = klingStatus(job);
      return status === undefined ? [] : [[job.id, status] as const];
    }),
  );
}

export async function legacyStatus(
  call: KlingCall,
  operation: Operation,
  context: ProviderContext,
): Promise<OperationStatus> {
  const { job, answer } = await legacyJob(call, operation, context);
  const status = klingStatus(job);
  if (status === undefined) throw unreadableError(answer, 'the job succeeded but has no file');
  return status;
}

async function legacyJob(call: KlingCall, { id, path = '' }: Operation, context: ProviderContext) {
  try {
    const { data, answer } = await call(
      { method: 'GET', path: `${path}/${encodeURIComponent(id)}` },
      context,
    );
    const job = readKlingJob(data);
    if (job === undefined) throw unreadableError(answer, 'it is not a job');
    return { job, answer };
  } catch (error) {
    throw isUnknownJob(error) ? unknownJob(404) : error;
  }
}

/** The new standard can be queried by marker. The legacy standard lists a service's jobs, newest first. */
async function find(
  call: KlingCall,
  { request, marker }: LostSubmit<VideoRequest>,
  context: ProviderContext,
): Promise<readonly Submitted[]> {
  const { model } = context;
  if (isLegacyKling(model))
    return findListed(call, { path: legacyVideoPath(klingInputs(request, model)), marker }, context);
  const { jobs } = await ask(call, { external_task_ids: marker }, context);
  return jobs.flatMap((job) => (job.externalId === marker ? [submitted(job, '')] : []));
}

export async function findListed(
  call: KlingCall,
  { path, marker }: { readonly path: string; readonly marker: string },
  context: ProviderContext,
): Promise<readonly Submitted[]> {
  // A job can move from one page to another and appear twice, so collect by id.
  const found = new Map<string, Submitted>();
  for (let page = 1; page <= findPagesMax; page += 1) {
    const query = new URLSearchParams({ pageNum: String(page), pageSize: String(findPageSize) });
    const { jobs } = await askMany(call, `${path}?${query.toString()}`, context);
    for (const job of jobs) if (job.externalId === marker) found.set(job.id, submitted(job, path));
    if (jobs.length < findPageSize) break;
  }
  return [...found.values()];
}
