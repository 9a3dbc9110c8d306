import { z } from 'zod';
import { minimaxFailures } from './minimax-failures.ts';
import { defined } from '../../base/defined.ts';
import { optionalNumber, optionalText, reportedNumber, signedUrlExpiry } from '../shared/http-outcome.ts';
import { cancelledJob, expiredJob, failedJob, middleOfSecond, tokenUsage } from '../shared/job-status.ts';
import type { CallbackNews, OperationStatus, UpstreamCallback } from '../provider.ts';

export const minimaxId = z
  .union([z.string().min(1).max(200), z.number().int().nonnegative()])
  .transform(String);
const code = z
  .union([z.string().min(1), z.number()])
  .transform(String)
  .optional()
  .catch(undefined);

const jobSchema = z.object({
  id: minimaxId,
  status: optionalText,
  content: z.object({ url: optionalText }).optional().catch(undefined),
  error: z.object({ code, message: optionalText }).optional().catch(undefined),
  resolution: optionalText,
  ratio: optionalText,
  duration: reportedNumber,
  updated_at: optionalNumber,
  usage: z
    .object({
      output_seconds: reportedNumber,
      input_seconds: reportedNumber,
      input_image_count: reportedNumber,
      total_tokens: reportedNumber,
      completion_tokens: reportedNumber,
    })
    .optional()
    .catch(undefined),
});
export type MinimaxJob = z.infer<typeof jobSchema>;

const wrappedSchema = z.object({ task: z.unknown() });

export function readMinimaxJob(value: unknown): MinimaxJob | undefined {
  return jobSchema.safeParse(wrappedSchema.safeParse(value).data?.task ?? value).data;
}

const listSchema = z.object({ items: z.array(z.unknown()) });

export function readMinimaxJobs(value: unknown): MinimaxJob[] {
  return (listSchema.safeParse(value).data?.items ?? []).flatMap((item) => readMinimaxJob(item) ?? []);
}

export function minimaxStatus(job: MinimaxJob): OperationStatus | undefined {
  switch ((job.status ?? '').toLowerCase()) {
    case 'queued':
      return { state: 'pending', phase: 'submitted' };
    case 'succeeded':
      return succeeded(job);
    case 'failed':
      return failedJob(minimaxFailures, job.error ?? {}, { unbilled: true });
    case 'expired':
      return expiredJob();
    case 'cancelled':
      return cancelledJob();
    default:
      // Unknown states are treated as running too.
      return { state: 'pending', phase: 'running' };
  }
}

function succeeded(job: MinimaxJob): OperationStatus | undefined {
  const { content, usage, resolution, ratio, duration } = job;
  const url = content?.url;
  if (url === undefined) return undefined;
  const { total_tokens: totalTokens, completion_tokens: completionTokens } = usage ?? {};
  return defined({
    state: 'succeeded' as const,
    items: [defined({ url, expiresAt: signedUrlExpiry(url) })],
    facts: defined({
      durationSeconds: usage?.output_seconds ?? duration,
      inputSeconds: usage?.input_seconds,
      inputImages: usage?.input_image_count,
      resolution: resolution?.toLowerCase(),
      ratio,
      usage: tokenUsage(completionTokens, totalTokens),
    }),
    endedAt: middleOfSecond(job.updated_at),
  });
}

const plainSchema = z.object({
  task_id: minimaxId,
  status: optionalText,
  file_id: minimaxId.optional().catch(undefined),
  video_width: optionalNumber,
  video_height: optionalNumber,
});
/** In version 1 of the API, a job's file has to be requested by id. */
export type MinimaxPlainJob = z.infer<typeof plainSchema>;

export function readPlainJob(value: unknown): MinimaxPlainJob | undefined {
  return plainSchema.safeParse(value).data;
}

const challengeSchema = z.object({ challenge: z.string().min(1).max(1000) });
const ends = new Set(['succeeded', 'success', 'failed', 'fail', 'cancelled', 'expired']);

/** Both versions of the API first send a challenge and expect it back within 3 seconds. */
export function parseMinimaxCallback({ body }: UpstreamCallback): CallbackNews {
  const challenge = challengeSchema.safeParse(body).data;
  if (challenge !== undefined) return { ended: false, reply: challenge };
  const job = readPlainJob(body) ?? readMinimaxJob(body);
  return { ended: ends.has(job?.status?.toLowerCase() ?? '') };
}
