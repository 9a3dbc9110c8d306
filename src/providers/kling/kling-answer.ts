import { z } from 'zod';
import { klingFailures } from './kling-failures.ts';
import type { Cost } from '../../domain/cost.ts';
import { defined } from '../../domain/defined.ts';
import { jobFailure } from '../shared/failure-table.ts';
import { optionalNumber, optionalNumeric, optionalText, signedUrlExpiry } from '../shared/http-outcome.ts';
import type { OperationStatus } from '../provider.ts';

/** Reading of jobs in both standards: lenient, only what is used. */

const outputSchema = z.object({ type: optionalText, url: optionalText, duration: optionalNumeric });
const outputsSchema = z.array(outputSchema).optional().catch(undefined);
const amount = z
  .union([z.number().nonnegative().transform(String), z.string()])
  .pipe(z.string().regex(/^\d+(?:\.\d+)?$/))
  .optional()
  .catch(undefined);
const billingSchema = z.object({
  charge_type: optionalText,
  package_type: optionalText,
  amount,
  currency: optionalText,
});

const newSchema = z.object({
  id: z.string().min(1).max(200),
  status: optionalText,
  message: optionalText,
  update_time: optionalNumber,
  external_id: optionalText,
  outputs: outputsSchema,
  billing: z.array(billingSchema).optional().catch(undefined),
});

const legacySchema = z.object({
  task_id: z.string().min(1).max(200),
  task_status: optionalText,
  task_status_msg: optionalText,
  updated_at: optionalNumber,
  task_info: z.object({ external_task_id: optionalText }).optional().catch(undefined),
  final_unit_deduction: amount,
  task_result: z
    .object({ videos: outputsSchema, images: outputsSchema, series_images: outputsSchema })
    .optional()
    .catch(undefined),
});

/** A job of either standard. */
export interface KlingJob {
  readonly id: string;
  readonly status?: string;
  readonly message?: string;
  /** Unix milliseconds. */
  readonly updatedAt?: number;
  /** The text of ours that was sent with it. */
  readonly externalId?: string;
  readonly videos: readonly z.infer<typeof outputSchema>[];
  readonly images: readonly z.infer<typeof outputSchema>[];
  readonly cost?: Cost;
}

export function readKlingJob(value: unknown): KlingJob | undefined {
  const job = newSchema.safeParse(value).data;
  if (job === undefined) return readLegacyJob(value);
  const outputs = job.outputs ?? [];
  return defined({
    id: job.id,
    status: job.status,
    message: job.message,
    updatedAt: job.update_time,
    externalId: job.external_id,
    videos: outputs.filter(({ type }) => type === undefined || type === 'video'),
    images: outputs.filter(({ type }) => type === 'image'),
    cost: costOf(job.billing ?? []),
  });
}

function readLegacyJob(value: unknown): KlingJob | undefined {
  const job = legacySchema.safeParse(value).data;
  if (job === undefined) return undefined;
  const { videos = [], images = [], series_images: series = [] } = job.task_result ?? {};
  const unit = images.length + series.length > 0 ? 'image units' : 'video units';
  return defined({
    id: job.task_id,
    status: job.task_status,
    message: job.task_status_msg,
    updatedAt: job.updated_at,
    externalId: job.task_info?.external_task_id,
    videos,
    images: images.length > 0 ? images : series,
    cost: nonZero({ amount: job.final_unit_deduction ?? '0', unit }),
  });
}

/** An array, or one job where an array is expected; what is not a job is left out. */
export function readKlingJobs(data: unknown): KlingJob[] {
  const entries: readonly unknown[] = Array.isArray(data) ? data : [data];
  return entries.map(readKlingJob).filter((job) => job !== undefined);
}

/** A charge in one unit; one that is paid partly in units and partly in cash is not a single amount. */
function costOf(billing: readonly z.infer<typeof billingSchema>[]): Cost | undefined {
  const charges = billing.flatMap(({ charge_type, package_type, amount: charged, currency }) => {
    if (charged === undefined) return [];
    const unit = charge_type === 'cash' ? currency : `${package_type ?? 'video'} units`;
    return unit === undefined ? [] : [{ amount: charged, unit }];
  });
  const [first, ...others] = charges;
  if (first === undefined || others.some(({ unit }) => unit !== first.unit)) return undefined;
  const sum = others.reduce((total, { amount: more }) => addDecimals(total, more), first.amount);
  return nonZero({ amount: sum, unit: first.unit });
}

function nonZero(cost: Cost): Cost | undefined {
  return /[1-9]/.test(cost.amount) ? cost : undefined;
}

/** Exact: no float touches what is paid. */
function addDecimals(one: string, other: string): string {
  const places = Math.max(...[one, other].map((text) => (text.split('.')[1] ?? '').length));
  const scaled = (text: string): bigint => {
    const [whole = '0', fraction = ''] = text.split('.');
    return BigInt(whole + fraction.padEnd(places, '0'));
  };
  const digits = (scaled(one) + scaled(other)).toString().padStart(places + 1, '0');
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

const recordLifeSeconds = 30 * 24 * 3600;

/** Undefined: the job reports success, but holds no file. */
export function klingStatus(job: KlingJob): OperationStatus | undefined {
  switch (job.status ?? '') {
    case 'submitted':
      return { state: 'pending', phase: 'submitted' };
    case 'succeeded':
    case 'succeed':
      return succeeded(job);
    case 'failed': {
      const said = { code: 'failed', message: job.message ?? 'The upstream gave no reason.' };
      return defined({
        state: 'failed' as const,
        ...said,
        failure: jobFailure(klingFailures, said),
        cost: job.cost,
      });
    }
    default:
      // `processing`, and every word that is not known yet.
      return { state: 'pending', phase: 'running' };
  }
}

/** Kling sells whole seconds; the file is a few frames longer than what was sold (`5.1`). */
function succeeded({ videos, images, updatedAt, cost }: KlingJob): OperationStatus | undefined {
  const files = videos.length > 0 ? videos : images;
  const kept = updatedAt === undefined ? undefined : Math.floor(updatedAt / 1000) + recordLifeSeconds;
  const items = files.flatMap(({ url }) =>
    url === undefined ? [] : [defined({ url, expiresAt: signedUrlExpiry(url) ?? kept })],
  );
  if (items.length === 0) return undefined;
  const seconds = videos[0]?.duration;
  const facts =
    videos.length > 0
      ? defined({ durationSeconds: seconds === undefined ? undefined : Math.max(1, Math.round(seconds)) })
      : { images: items.length };
  return defined({ state: 'succeeded' as const, items, facts, cost });
}
