import { z } from 'zod';
import { seedanceFramesPerSecond } from '../shared/seedance-models.ts';
import { arkFailures } from './ark-failures.ts';
import { defined } from '../../base/defined.ts';
import type { Refusal } from '../shared/failure-table.ts';
import {
  optionalNumber,
  optionalText,
  refusalError,
  reportedNumber,
  signedUrlExpiry,
  unknownJob,
} from '../shared/http-outcome.ts';
import { cancelledJob, expiredJob, failedJob, middleOfSecond, tokenUsage } from '../shared/job-status.ts';
import type { HttpResponse, OperationStatus, UpstreamError } from '../provider.ts';
import type { ResultItem } from '../../task/task.ts';
import type { SettleFacts } from '../../money/settle-facts.ts';

const said = z.object({ code: optionalText, message: optionalText, param: optionalText });

const jobSchema = z.object({
  id: z.string().min(1),
  model: optionalText,
  status: z.string().catch(''),
  error: said.optional().catch(undefined),
  // List entries have this field instead of `error`. Its value may be just the message.
  failure_reason: z
    .union([
      said,
      z
        .string()
        .min(1)
        .transform((message) => ({ code: undefined, message, param: undefined })),
    ])
    .optional()
    .catch(undefined),
  content: z
    .object({ video_url: optionalText, last_frame_url: optionalText, file_url: optionalText })
    .optional()
    .catch(undefined),
  usage: z
    .object({ completion_tokens: reportedNumber, total_tokens: reportedNumber })
    .optional()
    .catch(undefined),
  created_at: optionalNumber,
  updated_at: optionalNumber,
  resolution: optionalText,
  ratio: optionalText,
  duration: reportedNumber,
  frames: reportedNumber,
  generate_audio: z.boolean().optional().catch(undefined),
  framespersecond: reportedNumber,
  safety_identifier: optionalText,
});

export type ArkJob = z.infer<typeof jobSchema>;

export function readArkJob(json: unknown): ArkJob | undefined {
  return jobSchema.safeParse(json).data;
}

const listSchema = z.object({ total: optionalNumber, items: z.array(z.unknown()) });

export function readArkJobs(json: unknown): { jobs: ArkJob[]; items: number } | undefined {
  const page = listSchema.safeParse(json).data;
  if (page === undefined) return undefined;
  const jobs = page.items.map(readArkJob).filter((job) => job !== undefined);
  return { jobs, items: page.items.length };
}

const refusalSchema = z.object({ error: said });

export function readArkRefusal(json: unknown): Refusal | undefined {
  const body = refusalSchema.safeParse(json).data;
  if (body === undefined || (body.error.code === undefined && body.error.message === undefined))
    return undefined;
  const { code = '', message = '', param } = body.error;
  return defined({ code, message, field: param ?? fieldOfCode(code) });
}

function fieldOfCode(code: string): string | undefined {
  return /^(?:Missing|Invalid)Parameter\.([a-z][\w.[\]]*)$/.exec(code)?.[1];
}

export function arkRefusal(answer: HttpResponse): UpstreamError {
  return refusalError(answer, readArkRefusal(answer.json), arkFailures);
}

/** A 404 in the upstream's own format means that it does not know the job. */
export function arkJobRefusal(answer: HttpResponse): UpstreamError {
  const error = arkRefusal(answer);
  const refusal = readArkRefusal(answer.json);
  if (answer.status !== 404 || refusal === undefined || error.outcome === 'unavailable') return error;
  return unknownJob(404, error);
}

/** `updated_at` stays the same while the job runs and after it has finished, so it shows when the job ended. */
function endOf({ updated_at: updatedAt }: ArkJob): { readonly endedAt?: number } {
  return defined({ endedAt: middleOfSecond(updatedAt) });
}

const linkLifetimeSeconds = 24 * 3600;

export function arkStatus(job: ArkJob): OperationStatus | undefined {
  const traceId = job.id;
  switch (job.status) {
    case 'queued':
      return { state: 'pending', phase: 'submitted', traceId };
    case 'succeeded': {
      const item = resultItem(job);
      return item === undefined
        ? undefined
        : { state: 'succeeded', items: [item], facts: facts(job), traceId, ...endOf(job) };
    }
    case 'failed': {
      const { code = 'failed', message, param } = job.error ?? job.failure_reason ?? {};
      const said = { code, message, field: param ?? fieldOfCode(code) };
      // Only successful jobs are billed.
      return failedJob(arkFailures, said, { traceId, unbilled: true });
    }
    case 'expired':
      return expiredJob({ traceId });
    case 'cancelled':
      return cancelledJob({ traceId });
    default:
      // Treat unknown states as running. If a job stays in one, its deadline ends it.
      return { state: 'pending', phase: 'running', traceId };
  }
}

/** Returns false for a list entry that lacks facts that determine the charge. */
export function hasSettleFacts(job: ArkJob): boolean {
  return job.resolution !== undefined && (job.duration !== undefined || job.frames !== undefined);
}

function resultItem(job: ArkJob): ResultItem | undefined {
  const url = job.content?.video_url ?? job.content?.file_url;
  if (url === undefined) return undefined;
  const unsigned = job.created_at === undefined ? undefined : job.created_at + linkLifetimeSeconds;
  return defined({
    url,
    lastFrameUrl: job.content?.last_frame_url,
    expiresAt: signedUrlExpiry(url) ?? unsigned,
  });
}

function facts(job: ArkJob): SettleFacts {
  const { completion_tokens: completionTokens, total_tokens: totalTokens } = job.usage ?? {};
  const seconds =
    job.duration ??
    (job.frames === undefined ? undefined : job.frames / (job.framespersecond ?? seedanceFramesPerSecond));
  return defined({
    usage: tokenUsage(completionTokens, totalTokens),
    durationSeconds: seconds,
    resolution: job.resolution,
    ratio: job.ratio,
    generateAudio: job.generate_audio,
  });
}
