import { z } from 'zod';
import { klingFailures } from './kling-failures.ts';
import { sumCosts, type Cost } from '../../money/cost.ts';
import { defined } from '../../base/defined.ts';
import {
  optionalNumber,
  optionalText,
  readableItems,
  reportedNumber,
  signedUrlExpiry,
} from '../shared/http-outcome.ts';
import { failedJob } from '../shared/job-status.ts';
import { optionalAmount, vendorCost } from '../shared/vendor-cost.ts';
import type { OperationStatus } from '../provider.ts';

const outputSchema = z.object({ type: optionalText, url: optionalText, duration: reportedNumber });
const outputsSchema = readableItems(outputSchema).optional().catch(undefined);
const billingSchema = z.object({
  charge_type: optionalText,
  package_type: optionalText,
  amount: optionalAmount,
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
  final_unit_deduction: optionalAmount,
  task_result: z
    .object({ videos: outputsSchema, images: outputsSchema, series_images: outputsSchema })
    .optional()
    .catch(undefined),
});

export interface KlingJob {
  readonly id: string;
  readonly status?: string;
  readonly message?: string;
  /** Unix milliseconds. */
  readonly updatedAt?: number;
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
    cost: vendorCost(job.final_unit_deduction, unit),
  });
}

export function readKlingJobs(data: unknown): KlingJob[] | undefined {
  const alone = readKlingJob(data);
  if (!Array.isArray(data)) return alone === undefined ? undefined : [alone];
  return data.map(readKlingJob).filter((job) => job !== undefined);
}

/** Returns undefined if the charges mix units and cash, because these do not add up to a single amount. */
function costOf(billing: readonly z.infer<typeof billingSchema>[]): Cost | undefined {
  const charges = billing.map(({ charge_type, package_type, amount, currency }) => {
    const unit = charge_type === 'cash' ? currency : `${package_type ?? 'video'} units`;
    return amount === undefined || unit === undefined ? undefined : { amount, unit };
  });
  const sum = sumCosts(charges);
  return sum === undefined ? undefined : vendorCost(sum.amount, sum.unit);
}

const recordLifeSeconds = 30 * 24 * 3600;

export function klingStatus(job: KlingJob): OperationStatus | undefined {
  switch (job.status ?? '') {
    case 'submitted':
      return { state: 'pending', phase: 'submitted' };
    case 'succeeded':
    case 'succeed':
      return succeeded(job);
    case 'failed':
      return failedJob(klingFailures, { message: job.message }, { cost: job.cost });
    default:
      // `processing` and unknown states are treated as running.
      return { state: 'pending', phase: 'running' };
  }
}

/** Rounds the length, because Kling sells whole seconds but its files are a few frames longer (`5.1`). */
function soldSeconds(seconds: number): number {
  return seconds < 0 ? seconds : Math.max(1, Math.round(seconds));
}

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
      ? defined({ durationSeconds: seconds === undefined ? undefined : soldSeconds(seconds) })
      : { images: items.length };
  return defined({ state: 'succeeded' as const, items, facts, cost, endedAt: updatedAt });
}
