import { z } from 'zod';
import { countSources, factSources } from '../money/reckoning.ts';

const reckoningSchema = z.object({
  amount: z.string(),
  channel: z.string(),
  rules_of: z.string(),
  facts: z.array(
    z.object({
      name: z.string(),
      value: z.unknown(),
      source: z.enum(['request', ...factSources]),
    }),
  ),
  seconds: z.number().optional(),
  lines: z.array(
    z.object({
      index: z.int(),
      when: z.record(z.string(), z.unknown()),
      source: z.enum(countSources),
      of: z.record(z.string(), z.unknown()).optional(),
      text: z.string(),
      amount: z.string(),
    }),
  ),
  steps: z.array(z.object({ text: z.string(), amount: z.string() })),
});

export type Reckoning = z.infer<typeof reckoningSchema>;

const partSchema = z.object({ amount: z.string(), how: reckoningSchema.nullable() }).nullable();

/** Kept in a separate module so that `--help` does not load zod. */
export const explainedSchema = z.union([
  z.object({
    task: z.string(),
    currency: z.string(),
    hold: partSchema,
    charge: partSchema,
    refunded: z.string(),
    note: z.string(),
  }),
  z.object({
    currency: z.string(),
    hold: reckoningSchema,
    usual: reckoningSchema,
    channels: z.array(z.object({ channel: z.string(), dearest: z.string(), rules_of: z.string() })),
    dropped: z.array(z.object({ channel: z.string(), reason: z.string(), detail: z.string() })),
  }),
]);

export type Explained = z.infer<typeof explainedSchema>;
