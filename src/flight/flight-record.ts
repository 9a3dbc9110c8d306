import { taskKinds } from '../base/task-kind.ts';
import { z } from 'zod';
import { entryKinds } from '../money/movement.ts';
import { failureClasses } from '../errors/failure.ts';
import { costSchema, factsSchema, recordedCallSchema } from './recorded-call.ts';

/**
 * Collects everything known about a task in one place. The API returns it, and it can be saved to a file. Such a file
 * is untrusted when it is read again. Times are fractional Unix seconds, and money is decimal text.
 */

export const recordFormat = 'mediary-task-record';
export const recordVersion = 1;

const seconds = z.number().meta({ description: 'Unix seconds. Accurate to three decimal places.' });
const text = z.string().max(4_000);
const listMax = 1_000;

const candidateSchema = z.object({ channel: text, credential: text });

export const planSchema = z.object({
  candidates: z.array(candidateSchema).max(listMax),
  fallback: z
    .object({
      candidates: z.array(candidateSchema).max(listMax),
      on: z.array(z.enum(failureClasses)),
      neededSeconds: z.number(),
    })
    .optional(),
  dropped: z
    .array(z.object({ channel: text, reason: text, detail: text }))
    .max(listMax)
    .meta({ description: 'Channels that serve the model but were not in the plan, each with the reason.' }),
});

const attemptSchema = z.object({
  n: z.int(),
  state: text,
  channel: text,
  credential: text,
  upstream_id: text.nullable(),
  adopted: z.boolean(),
  code: text.nullable(),
  message: text.nullable(),
  class: z.enum(failureClasses).nullable(),
  started_at: seconds,
  ended_at: seconds.nullable(),
  past: z
    .array(
      z.object({
        state: text,
        upstream_id: text.nullable(),
        adopted: z.boolean(),
        code: text.nullable(),
        started_at: seconds,
        ended_at: seconds,
        times: z.int(),
        last_at: seconds,
      }),
    )
    .max(listMax)
    .optional()
    .meta({ description: 'The earlier states, oldest first. Absent if there are none.' }),
});

const waitSchema = z.object({
  cause: text,
  text: text,
  place: text.meta({ description: 'The channel, the credential and the code. Empty if none is known.' }),
  since: seconds,
  ended_at: seconds.nullable(),
});

const entrySchema = z.object({
  kind: z.enum(entryKinds),
  amount: text,
  excess: text
    .nullable()
    .meta({ description: 'The amount charged beyond the hold. Set only on settlements.' }),
  basis: z.string().max(50_000).nullable().meta({
    description: 'JSON: the price basis of a hold, or how a settlement’s charge was computed.',
  }),
  note: text.nullable(),
  at: seconds,
});

const taskSchema = z.object({
  id: text,
  kind: z.enum(taskKinds),
  model: text,
  status: z.enum(['pending', 'submitted', 'running', 'succeeded', 'failed']),
  account: text,
  key: text,
  channel: text.nullable(),
  upstream_id: text.nullable(),
  hold: text,
  charge: text.nullable(),
  charge_estimated: z.boolean(),
  needs_attention: text.nullable(),
  created_at: seconds,
  completed_at: seconds.nullable(),
  deadline_at: seconds,
  error: z.object({ code: text, message: text, class: z.enum(failureClasses).nullable() }).nullable(),
  outcome: z
    .discriminatedUnion('kind', [
      z.object({
        kind: z.literal('succeeded'),
        items: z.int(),
        facts: factsSchema,
        cost: costSchema.nullable(),
      }),
      z.object({ kind: z.literal('failed'), code: text, class: z.enum(failureClasses).nullable() }),
    ])
    .nullable()
    .meta({ description: 'How the job ended, as reported by the upstream or an operator.' }),
});

const actionSchema = z.object({
  at: seconds,
  by: text,
  action: text,
  reason: text,
  detail: text,
});

const callbackSchema = z.object({
  state: text,
  target: text,
  attempts: z
    .array(z.object({ at: seconds, ms: z.int(), status: z.int().nullable(), error: text.nullable() }))
    .max(listMax),
});

const copySchema = z.object({
  state: text,
  names: z.array(text).max(listMax),
  tries: z.int(),
  error: text.nullable(),
});

const eventSchema = z.object({
  at: seconds,
  what: z.enum([
    'admission',
    'plan',
    'attempt',
    'wait',
    'exchange',
    'ledger',
    'operator',
    'callback',
    'copy',
    'end',
  ]),
  text: z.string().max(10_000),
});

export const flightRecordSchema = z
  .object({
    format: z.literal(recordFormat),
    version: z.literal(recordVersion),
    recorded_at: seconds,
    task: taskSchema,
    plan: planSchema.nullable().meta({ description: 'Null if the request is no longer kept.' }),
    request: z
      .string()
      .max(100_000)
      .nullable()
      .meta({ description: 'The request as JSON, with placeholders for all text from the caller.' }),
    attempts: z.array(attemptSchema).max(listMax),
    waits: z.array(waitSchema).max(listMax).meta({ description: 'The task’s waits.' }),
    calls: z
      .array(recordedCallSchema)
      .max(listMax)
      .meta({ description: 'Exchanges with upstreams, redacted.' }),
    ledger: z.array(entrySchema).max(listMax),
    actions: z.array(actionSchema).max(listMax),
    callback: callbackSchema.nullable(),
    result_copy: copySchema.nullable(),
    mappings: z
      .record(z.string(), z.string().max(50_000))
      .meta({ description: 'The channel’s field mapping as JSON, if its provider has one.' }),
    events: z.array(eventSchema).max(5_000).meta({ description: 'All events in order, as text.' }),
    history: z.unknown().optional().meta({
      description: 'The workflow’s history. Absent if it was not requested or Temporal no longer has it.',
    }),
  })
  .meta({ id: 'FlightRecord' });

export type FlightRecord = z.output<typeof flightRecordSchema>;
export type RecordEvent = FlightRecord['events'][number];
