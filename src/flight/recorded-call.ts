import { z } from 'zod';
import { defined } from '../base/defined.ts';
import { failureClasses } from '../errors/failure.ts';
import { measuredFacts, type SettleFacts } from '../money/settle-facts.ts';

/**
 * One call of an adapter's method: the redacted exchanges with the upstream (redact.ts), and what the adapter concluded
 * from them. It contains nothing from the caller. Times are fractional Unix seconds.
 */

const callSteps = ['submit', 'status', 'list', 'find', 'cancel'] as const;

const seconds = z.number().meta({ description: 'Unix seconds. Accurate to three decimal places.' });
const text = z.string().max(2000);
const operationSchema = z.record(z.string(), z.string());

/** The fields are named as in the ledger. */
export const factsSchema = z
  .object({
    usage: z
      .object({
        completionTokens: z.number(),
        totalTokens: z.number(),
        textTokens: z.number(),
        inputTextTokens: z.number(),
        inputImageTokens: z.number(),
        inputAudioTokens: z.number(),
        inputVideoTokens: z.number(),
        cachedTokens: z.number(),
      })
      .partial(),
    durationSeconds: z.number(),
    frames: z.number(),
    inputSeconds: z.number(),
    inputImages: z.number(),
    resolution: text,
    ratio: text,
    size: text,
    quality: text,
    generateAudio: z.boolean(),
    images: z.number(),
    groups: z
      .array(z.object({ images: z.number(), size: text.optional(), quality: text.optional() }))
      .max(1_000)
      .readonly(),
    measured: z.array(z.enum(measuredFacts)).readonly(),
    incredible: z.literal(true),
  })
  .partial();

export const costSchema = z.object({ amount: text, unit: text });

const exchangeSchema = z.object({
  method: text,
  url: text.meta({ description: 'The URL without its query string.' }),
  at: seconds,
  ms: z.int().meta({ description: 'The time until the whole response was read, in ms.' }),
  shape: z.string().max(20_000).optional().meta({
    description: 'The request body as JSON, with placeholders for all text from the caller.',
  }),
  status: z.int().optional().meta({ description: 'Absent if there was no response.' }),
  headers: z.record(z.string(), text).optional(),
  bytes: z.int().optional().meta({ description: 'The size of the response body.' }),
  hash: text.optional().meta({
    description: 'The hash of the response body before redaction.',
  }),
  body: z.string().max(50_000).optional().meta({
    description: 'The redacted response. Absent if there was none or it was too large to keep.',
  }),
  json: z.boolean().optional().meta({ description: 'Whether the response was JSON.' }),
  failure: z
    .object({ outcome: z.enum(['not_sent', 'ambiguous']), code: text })
    .optional()
    .meta({ description: 'Why no response could be read.' }),
});

const outcomeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('accepted'), operation: operationSchema }),
  z.object({
    kind: z.literal('pending'),
    phase: z.enum(['submitted', 'running']),
    progress: z.number().optional(),
  }),
  z.object({
    kind: z.literal('succeeded'),
    items: z.int(),
    facts: factsSchema,
    cost: costSchema.optional(),
  }),
  z.object({
    kind: z.literal('failed'),
    code: text,
    class: z.enum(failureClasses),
    unbilled: z.boolean(),
    cost: costSchema.optional(),
  }),
  z.object({
    kind: z.literal('error'),
    outcome: z.enum(['not_sent', 'throttled', 'unavailable', 'rejected', 'ambiguous']),
    code: text,
    status: z.int().optional(),
    class: z.enum(failureClasses),
    gone: z.boolean(),
  }),
  z.object({ kind: z.literal('found'), operations: z.array(operationSchema).max(20) }),
  z.object({ kind: z.literal('cancelled') }),
  z.object({ kind: z.literal('refused') }),
  z.object({ kind: z.literal('crashed'), message: text }),
]);

export const recordedCallSchema = z.object({
  step: z.enum(callSteps),
  at: seconds,
  ms: z.int(),
  channel: text,
  credential: text,
  provider: text,
  model: text,
  base_url: text,
  operation: operationSchema.optional(),
  marker: text.optional(),
  remaining_seconds: z.int().optional(),
  sent_after: seconds.optional(),
  sent_before: seconds.optional(),
  callback: z.boolean().optional().meta({ description: 'Whether the upstream was given a callback URL.' }),
  skipped: z.int().optional().meta({
    description:
      'The number of earlier calls that were not kept because their outcome was the same as the previous call’s.',
  }),
  exchanges: z.array(exchangeSchema).max(20),
  outcome: outcomeSchema,
});

export type RecordedCall = z.output<typeof recordedCallSchema>;
export type RecordedExchange = z.output<typeof exchangeSchema>;
export type CallOutcome = z.output<typeof outcomeSchema>;
export type CallStep = RecordedCall['step'];
/** Removes undefined fields, which the schema allows but SettleFacts does not. */
export function toFacts({ usage, groups, ...rest }: z.output<typeof factsSchema>): SettleFacts {
  return {
    ...defined(rest),
    ...(usage === undefined ? {} : { usage: defined(usage) }),
    ...(groups === undefined ? {} : { groups: groups.map(defined) }),
  };
}
