import { z } from 'zod';
import { askXai, callXai, costOf, isXaiRefusal, xaiRefusal } from './xai-call.ts';
import { xaiFacts } from './xai-facts.ts';
import { xaiFailures } from './xai-failures.ts';
import { buildXaiVideo, checkXaiSounds, xaiOperation } from './xai-request.ts';
import { defined } from '../../base/defined.ts';
import type { VideoRequest } from '../../models/request.ts';
import {
  expiryAfter,
  isSuccess,
  optionalNumber,
  reportedNumber,
  optionalText,
  signedUrlExpiry,
  unknownJob,
  unreadableError,
} from '../shared/http-outcome.ts';
import { endedJob, expiredJob, failedJob } from '../shared/job-status.ts';
import type {
  HttpResponse,
  Operation,
  OperationStatus,
  ProviderContext,
  SubmitContext,
  Submitted,
  VideoProvider,
} from '../provider.ts';

/**
 * Creates, edits and extends Grok Imagine videos. The operation is `{id}`. The vendor has no cancel call, list or
 * callbacks, and returns no marker, so only an operator can find a lost job.
 */
export const xaiVideo: VideoProvider = {
  cancelUntil: 'never',
  facts: xaiFacts,
  check: checkXaiSounds,
  submit,
  status,
};

const createdSchema = z.object({ request_id: z.string().min(1).max(200) });

async function submit(request: VideoRequest, context: SubmitContext): Promise<Submitted> {
  const path = `/videos/${xaiOperation(request)}`;
  const answer = await callXai({ method: 'POST', path, json: buildXaiVideo(request, context) }, context);
  const id = createdSchema.safeParse(answer.json).data?.request_id;
  if (id === undefined) throw unreadableError(answer, 'it has no id');
  return { operation: { id }, traceId: id };
}

const jobSchema = z.object({
  status: optionalText,
  progress: optionalNumber,
  video: z
    .object({
      url: optionalText,
      duration: reportedNumber,
      respect_moderation: z.boolean().optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
  error: z
    .union([
      z.object({ code: optionalText, message: optionalText }),
      z.string().transform((message) => ({ message, code: undefined })),
    ])
    .optional()
    .catch(undefined),
});
type Job = z.infer<typeof jobSchema>;

/**
 * A 202, with or without a body, means that the job is still running. If the rendered video is rejected for its content,
 * the vendor usually responds with a 400, from which the typed answers derive the job's end.
 */
async function status({ id }: Operation, context: ProviderContext): Promise<OperationStatus> {
  const answer = await askXai({ method: 'GET', path: `/videos/${encodeURIComponent(id)}` }, context);
  if (answer.status === 404 && isXaiRefusal(answer)) throw unknownJob(404);
  if (!isSuccess(answer)) throw xaiRefusal(answer);
  const job = jobSchema.safeParse(answer.json).data;
  if (answer.status === 202) return pending(job);
  if (job === undefined) throw unreadableError(answer, 'it is not a job');
  const read = readJob(job, answer);
  if (read === undefined) throw unreadableError(answer, 'the job succeeded but has no file');
  return read;
}

function pending(job: Job | undefined): OperationStatus {
  const progress = job?.progress === undefined ? undefined : Math.min(100, job.progress);
  return defined({ state: 'pending' as const, phase: 'running' as const, progress });
}

/** Source: xai-sdk 1.21.0. */
const linkLifeSeconds = 24 * 3600;

/**
 * Returns undefined for a finished job without a file. Older responses have no status, only a link once the job is
 * done.
 */
function readJob(job: Job, answer: HttpResponse): OperationStatus | undefined {
  const { video, error } = job;
  const cost = costOf(answer.json);
  const word = job.status ?? (video?.url === undefined ? '' : 'done');
  switch (word) {
    case 'done': {
      if (video?.respect_moderation === false)
        return endedJob(
          {
            code: 'respect_moderation',
            message: 'The video did not pass moderation.',
            failure: { class: 'moderation_output' },
          },
          { cost },
        );
      if (video?.url === undefined) return undefined;
      const { url } = video;
      const expiresAt = signedUrlExpiry(url) ?? expiryAfter(answer, linkLifeSeconds);
      const facts = defined({ durationSeconds: video.duration });
      return defined({ state: 'succeeded' as const, items: [defined({ url, expiresAt })], facts, cost });
    }
    case 'failed':
      return failedJob(xaiFailures, error ?? {}, { cost });
    case 'expired':
      return expiredJob();
    default:
      return pending(job);
  }
}
