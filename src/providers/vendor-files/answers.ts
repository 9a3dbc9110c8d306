import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import type { Cost } from '../../money/cost.ts';
import type { SettleFacts } from '../../money/settle-facts.ts';
import type { StateWord, VendorFile } from '../../models/vendor-file.ts';
import {
  isSuccess,
  optionalNumber,
  optionalText,
  readableItems,
  reportedNumber,
  signedUrlExpiry,
  unreadableError,
} from '../shared/http-outcome.ts';
import { cancelledJob, expiredJob, failedJob, tokenUsage } from '../shared/job-status.ts';
import { optionalAmount, vendorCost } from '../shared/vendor-cost.ts';
import type { FailureTable } from '../shared/failure-table.ts';
import type { HttpResponse, Operation, OperationStatus } from '../provider.ts';

const linksMax = 100;

/** JSONata unwraps lists with one item, so a single value is accepted as a list. */
export function listOf<Item>(item: z.ZodType<Item>) {
  const asList = (value: unknown): unknown[] => {
    const list: unknown[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
    return list;
  };
  return z.preprocess(asList, readableItems(item)).catch([]);
}

const link = z.union([
  z
    .string()
    .min(1)
    .transform((url) => ({ url, expires_at: undefined })),
  z.object({ url: z.string().min(1), expires_at: optionalNumber }),
]);

const flag = z.boolean().optional().catch(undefined);
const factsSchema = z
  .object({
    duration_seconds: reportedNumber,
    frames: reportedNumber,
    input_seconds: reportedNumber,
    images: reportedNumber,
    resolution: optionalText,
    ratio: optionalText,
    size: optionalText,
    quality: optionalText,
    generate_audio: flag,
    completion_tokens: reportedNumber,
    total_tokens: reportedNumber,
  })
  .partial()
  .catch({});

/** Limits the length of codes, because the vendor file's patterns are matched against them. */
export const codeCharactersMax = 200;

const code = z
  .union([z.string().min(1), z.number().transform(String)])
  .transform((text) => text.slice(0, codeCharactersMax))
  .optional()
  .catch(undefined);

const statusSchema = z.object({
  state: z
    .union([z.string(), z.number().transform(String)])
    .optional()
    .catch(undefined),
  progress: optionalNumber.transform((percent) =>
    percent === undefined ? undefined : Math.min(100, Math.max(0, percent)),
  ),
  queue_position: optionalNumber,
  urls: listOf(link),
  facts: factsSchema.optional(),
  cost: optionalAmount,
  code,
  message: optionalText,
  field: optionalText,
  withheld: listOf(z.string()),
  unbilled: flag,
  trace_id: optionalText,
  ended_at: optionalNumber,
});
export type ReadStatus = z.infer<typeof statusSchema>;

export function readStatus(value: unknown): ReadStatus | undefined {
  return statusSchema.safeParse(value).data;
}

const idSchema = z.union([z.string().min(1), z.number().transform(String)]);
const operationSchema = z.union([
  idSchema.transform((id): Operation => ({ id })),
  z.object({ id: idSchema }).catchall(z.string()),
]);

export function readOperation(value: unknown): Operation | undefined {
  return operationSchema.safeParse(value).data;
}

const errorSchema = z.object({ error: z.unknown() });

export function errorIn(value: unknown): unknown {
  return errorSchema.safeParse(value).data?.error;
}

const foundSchema = readableItems(z.object({ id: idSchema, marker: z.string() }).catchall(z.unknown()));

export function readFound(value: unknown): { readonly operation: Operation; readonly marker: string }[] {
  const list = Array.isArray(value) ? value : [value];
  return foundSchema.parse(list).map(({ id, marker }) => ({ operation: { id }, marker }));
}

const listedSchema = readableItems(z.object({ id: idSchema }).loose());

export function readListed(value: unknown): { readonly id: string; readonly status: ReadStatus }[] {
  const list = Array.isArray(value) ? value : [value];
  return listedSchema.parse(list).flatMap((each) => {
    const status = readStatus(each);
    return status === undefined ? [] : [{ id: each.id, status }];
  });
}

export function factsOf({ facts = {} }: Pick<ReadStatus, 'facts'>): SettleFacts {
  return defined({
    durationSeconds: facts.duration_seconds,
    frames: facts.frames,
    inputSeconds: facts.input_seconds,
    images: facts.images,
    resolution: facts.resolution,
    ratio: facts.ratio,
    size: facts.size,
    quality: facts.quality,
    generateAudio: facts.generate_audio,
    usage: tokenUsage(facts.completion_tokens, facts.total_tokens),
  });
}

export function costOf(amount: string | undefined, { about }: VendorFile): Cost | undefined {
  return about.cost_unit === undefined ? undefined : vendorCost(amount, about.cost_unit);
}

interface Reading {
  readonly file: VendorFile;
  readonly failures: FailureTable;
  readonly kind: 'video' | 'image';
  readonly states: Readonly<Record<string, StateWord>>;
}

/** An unknown state is treated as running, so that it does not cause a second, billed job. */
export function stateOf({ state = '' }: Pick<ReadStatus, 'state'>, states: Reading['states']): StateWord {
  return (Object.hasOwn(states, state) ? states[state] : undefined) ?? 'running';
}

export function statusOf(read: ReadStatus, answer: HttpResponse, reading: Reading): OperationStatus {
  const { file, failures } = reading;
  const { progress, queue_position: queuePosition, code, message, field, withheld, unbilled } = read;
  const traceId = read.trace_id;
  const cost = costOf(read.cost, file);
  const known = { cost, unbilled, withheld: withheld.length === 0 ? undefined : withheld, traceId };
  const word = stateOf(read, reading.states);
  switch (word) {
    case 'submitted':
    case 'running':
      return defined({ state: 'pending' as const, phase: word, progress, queuePosition, traceId });
    case 'succeeded':
      return succeeded(read, answer, reading);
    case 'failed':
      return failedJob(failures, { code, message, field }, known);
    case 'cancelled':
      return cancelledJob(known);
    case 'expired':
      return expiredJob(known);
  }
}

function succeeded(read: ReadStatus, answer: HttpResponse, { file, kind }: Reading): OperationStatus {
  const items = read.urls
    .slice(0, linksMax)
    .map(({ url, expires_at: expiresAt }) => defined({ url, expiresAt: expiresAt ?? signedUrlExpiry(url) }));
  if (items.length === 0 || !isSuccess(answer))
    throw unreadableError(answer, 'the job succeeded but has no file');
  const facts = factsOf(read);
  return defined({
    state: 'succeeded' as const,
    items,
    facts: kind === 'image' ? { images: items.length, ...facts } : facts,
    endedAt: read.ended_at,
    cost: costOf(read.cost, file),
    traceId: read.trace_id,
  });
}
