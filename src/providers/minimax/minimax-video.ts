import { z } from 'zod';
import {
  minimaxId,
  minimaxStatus,
  parseMinimaxCallback,
  readMinimaxJob,
  readMinimaxJobs,
  readPlainJob,
} from './minimax-answer.ts';
import type { MinimaxPlainJob } from './minimax-answer.ts';
import { callMinimax, exchange, jobError, readKey } from './minimax-call.ts';
import { minimaxFailures } from './minimax-failures.ts';
import { minimaxFacts } from './minimax-models.ts';
import { buildMinimaxVideo } from './minimax-request.ts';
import {
  expiryAfter,
  isSuccess,
  optionalText,
  signedUrlExpiry,
  unreadableError,
} from '../shared/http-outcome.ts';
import { failedJob } from '../shared/job-status.ts';
import { UpstreamError } from '../provider.ts';
import type {
  Operation,
  OperationStatus,
  ProviderContext,
  SubmitContext,
  Submitted,
  VideoProvider,
} from '../provider.ts';
import { defined } from '../../base/defined.ts';
import type { VideoRequest } from '../../models/request.ts';

/** The vendor's default page size. */
const listMax = 20;
const fileLifeSeconds = 3600;

/**
 * The upstream's model name determines the API version: v2 (H3) or v1 (Hailuo and older). The operation is `{id}`, plus
 * `version: '1'` in v1. Regeneration at 2K, and prompt expansion as a separate job, are not supported. Jobs carry no
 * marker, so only an operator can find a lost job.
 */
export const minimaxVideo: VideoProvider = {
  linkLifeSeconds: fileLifeSeconds,
  listMax,
  cancelUntil: 'queued',
  facts: minimaxFacts,
  submit,
  status: (operation, context) =>
    operation['version'] === '1' ? plainStatus(operation, context) : status(operation, context),
  cancel,
  list,
  parseCallback: parseMinimaxCallback,
};

const createdSchema = z.object({ task_id: minimaxId });

async function submit(request: VideoRequest, context: SubmitContext): Promise<Submitted> {
  const { path, json } = buildMinimaxVideo(request, context);
  const answer = await callMinimax({ method: 'POST', path, json }, context);
  const id = createdSchema.safeParse(answer.json).data?.task_id;
  if (id === undefined) throw unreadableError(answer, 'it has no id');
  const operation = path.startsWith('/v1') ? { id, version: '1' } : { id };
  return { operation, traceId: id };
}

async function status({ id }: Operation, context: ProviderContext): Promise<OperationStatus> {
  const path = `/v2/query/video_generation/${encodeURIComponent(id)}`;
  const asked = await exchange({ method: 'GET', path }, context);
  const { answer, refusal } = asked;
  if (!isSuccess(answer) || refusal !== undefined) throw jobError(asked);
  const job = readMinimaxJob(answer.json);
  if (job === undefined) throw unreadableError(answer, 'it is not a job');
  const read = minimaxStatus(job);
  if (read === undefined) throw unreadableError(answer, 'the job succeeded but has no file');
  return read;
}

async function list(
  operations: readonly Operation[],
  context: ProviderContext,
): Promise<ReadonlyMap<string, OperationStatus>> {
  const ids = operations.flatMap(({ id, version }) => (version === undefined ? [id] : []));
  const found = new Map<string, OperationStatus>();
  if (ids.length === 0) return found;
  const query = new URLSearchParams({ page_num: '1', page_size: String(listMax) });
  for (const id of ids) query.append('filter.task_ids', id);
  const answer = await callMinimax(
    { method: 'GET', path: `/v2/query/video_generation?${query.toString()}` },
    context,
  );
  for (const job of readMinimaxJobs(answer.json)) {
    const read = minimaxStatus(job);
    if (read !== undefined) found.set(job.id, read);
  }
  return found;
}

const actionSchema = z.object({ action: optionalText });

/**
 * DELETE would remove a finished job's record, and the upstream rejects it for a running job, so only a queued job is
 * cancelled. v1 has no cancel call.
 */
async function cancel(operation: Operation, context: ProviderContext): Promise<'cancelled' | 'refused'> {
  if (operation['version'] === '1') return 'refused';
  const now = await status(operation, context);
  if (now.state === 'failed' && now.failure.class === 'cancelled') return 'cancelled';
  if (now.state !== 'pending' || now.phase !== 'submitted') return 'refused';
  const path = `/v2/video_generation/${encodeURIComponent(operation.id)}`;
  try {
    const answer = await callMinimax({ method: 'DELETE', path }, context);
    const action = actionSchema.safeParse(answer.json).data?.action;
    return action?.startsWith('delete') === true ? 'refused' : 'cancelled';
  } catch (error) {
    // The job started between the two requests.
    if (error instanceof UpstreamError && error.outcome === 'rejected') return 'refused';
    throw error;
  }
}

/**
 * A successful v1 job needs a second request for the link to its file. A failed job states its reason in the same
 * fields as a rejected request.
 */
async function plainStatus({ id }: Operation, context: ProviderContext): Promise<OperationStatus> {
  const query = new URLSearchParams({ task_id: id });
  const path = `/v1/query/video_generation?${query.toString()}`;
  const asked = await exchange({ method: 'GET', path }, context);
  const { answer, refusal } = asked;
  const job = readPlainJob(answer.json);
  const word = job?.status?.toLowerCase();
  if (word === 'fail' || word === 'failed') return failedJob(minimaxFailures, refusal ?? {});
  if (!isSuccess(answer) || refusal !== undefined) throw jobError(asked);
  if (job === undefined) throw unreadableError(answer, 'it is not a job');
  if (word === 'preparing' || word === 'queueing') return { state: 'pending', phase: 'submitted' };
  if (word !== 'success') return { state: 'pending', phase: 'running' };
  if (job.file_id === undefined) throw unreadableError(answer, 'the job succeeded but has no file');
  return delivered(job, job.file_id, context);
}

const fileSchema = z.object({ file: z.object({ download_url: z.string().min(1) }) });

async function delivered(
  { video_width: width, video_height: height }: MinimaxPlainJob,
  fileId: string,
  context: ProviderContext,
): Promise<OperationStatus> {
  const { group } = readKey(context);
  const query = new URLSearchParams({ file_id: fileId, ...(group === undefined ? {} : { GroupId: group }) });
  const path = `/v1/files/retrieve?${query.toString()}`;
  const answer = await callMinimax({ method: 'GET', path }, context);
  const url = fileSchema.safeParse(answer.json).data?.file.download_url;
  if (url === undefined) throw unreadableError(answer, 'the file has no link');
  const size = width === undefined || height === undefined ? undefined : `${width}x${height}`;
  return {
    state: 'succeeded',
    items: [defined({ url, expiresAt: signedUrlExpiry(url) ?? expiryAfter(answer, fileLifeSeconds) })],
    facts: defined({ size }),
  };
}
