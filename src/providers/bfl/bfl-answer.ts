import { z } from 'zod';
import { bflFailures } from './bfl-failures.ts';
import type { Cost } from '../../money/cost.ts';
import { defined } from '../../base/defined.ts';
import type { SettleFacts } from '../../money/settle-facts.ts';
import type { Refusal } from '../shared/failure-table.ts';
import { optionalNumber, optionalText, refusalError, signedUrlExpiry } from '../shared/http-outcome.ts';
import { failedJob, noReason } from '../shared/job-status.ts';
import { optionalAmount, vendorCost } from '../shared/vendor-cost.ts';
import type { HttpResponse, OperationStatus, UpstreamError } from '../provider.ts';

const createdSchema = z.object({
  id: z.string().min(1).max(200),
  polling_url: optionalText,
  cost: optionalAmount,
});

export function readBflCreated(json: unknown) {
  return createdSchema.safeParse(json).data;
}

const jobSchema = z.object({
  id: optionalText,
  status: optionalText,
  state: optionalText,
  result: z.object({ sample: optionalText, end_time: optionalNumber }).optional().catch(undefined),
  details: z.unknown().optional(),
  error: optionalText,
  message: optionalText,
  cost: optionalAmount,
});

export interface BflJob {
  readonly id?: string;
  readonly word: string;
  readonly sample?: string;
  /** Unix seconds. */
  readonly endedAt?: number;
  readonly said: string;
  readonly cost?: Cost;
}

/** Returns undefined for a response without a status, because it is not about a job. */
export function readBflJob(json: unknown): BflJob | undefined {
  const job = jobSchema.safeParse(json).data;
  const word = job?.status ?? job?.state;
  if (job === undefined || word === undefined) return undefined;
  return defined({
    id: job.id,
    word,
    sample: job.result?.sample,
    endedAt: job.result?.end_time,
    said: job.message ?? job.error ?? textOf(job.details),
    cost: creditCost(job.cost),
  });
}

export function creditCost(amount: string | undefined): Cost | undefined {
  return vendorCost(amount, 'credits');
}

const messageCharactersMax = 500;

/** The upstream sends either a string or an object with the reasons. */
function textOf(details: unknown): string {
  if (typeof details === 'string') return details;
  if (typeof details !== 'object' || details === null) return noReason;
  const parts = Object.entries(details).map(
    ([name, value]: [string, unknown]) =>
      `${name}: ${Array.isArray(value) ? value.join(', ') : String(value)}`,
  );
  return parts.join('; ').slice(0, messageCharactersMax);
}

export interface BflReading {
  readonly expiresAt: (endedAt: number | undefined) => number;
  readonly facts: SettleFacts;
  readonly cost: Cost | undefined;
}

export function bflStatus(job: BflJob, reading: BflReading): OperationStatus | undefined {
  switch (job.word.toLowerCase()) {
    case 'ready': {
      if (job.sample === undefined) return undefined;
      const expiresAt = signedUrlExpiry(job.sample) ?? reading.expiresAt(job.endedAt);
      const { facts } = reading;
      const items = [{ url: job.sample, expiresAt }];
      const cost = job.cost ?? reading.cost;
      const endedAt = job.endedAt === undefined ? undefined : Math.round(job.endedAt * 1000);
      return defined({ state: 'succeeded' as const, items, facts, cost, endedAt });
    }
    case 'error':
    case 'failed':
    case 'request moderated':
    case 'content moderated': {
      // The vendor does not charge for rejected content.
      const unbilled = /moderated$/i.test(job.word);
      return failedJob(bflFailures, { code: job.word, message: job.said }, { cost: job.cost, unbilled });
    }
    default:
      // `Pending`, `Reasoning` and unknown states are treated as running.
      return { state: 'pending', phase: 'running' };
  }
}

const fieldsSchema = z.object({
  detail: z.array(
    z.object({
      loc: z.array(z.union([z.string(), z.number()])).catch([]),
      msg: optionalText,
      type: optionalText,
    }),
  ),
});
const textsSchema = z.object({
  detail: optionalText,
  error: optionalText,
  message: optionalText,
  retry_after: optionalNumber,
});

export function bflRefusal(answer: HttpResponse): UpstreamError {
  return refusalError(answer, readRefusal(answer.json), bflFailures);
}

/** Reads `{"detail":"…"}`, `{"detail":[{"loc","msg","type"}]}`, or `{"error":"insufficient_credits","message"?}`. */
function readRefusal(json: unknown): Refusal | undefined {
  const [first] = fieldsSchema.safeParse(json).data?.detail ?? [];
  if (first !== undefined) {
    const field = first.loc.filter((part) => part !== 'body').join('.');
    return defined({
      code: first.type ?? '',
      message: first.msg ?? 'The request is not valid.',
      field: field === '' ? undefined : field,
    });
  }
  const { detail, error, message, retry_after: seconds } = textsSchema.safeParse(json).data ?? {};
  const said = message ?? detail ?? error;
  if (said === undefined) return undefined;
  return defined({
    code: /^[a-z][a-z_]*$/.test(error ?? '') ? (error ?? '') : '',
    message: said,
    retryAfterMs: seconds === undefined ? undefined : seconds * 1000,
  });
}
