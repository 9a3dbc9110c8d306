import { z } from 'zod';
import { healthStates } from '../../health/health-words.ts';
import type { ChannelHealth, PartHealth, WaitingTasks } from '../../health/channel-health.ts';
import { secondsOrNull, toSeconds, unixSeconds } from './unix-seconds.ts';

const state = z.enum(healthStates).meta({
  description:
    '`probing`: the cool-down is over, but no request has succeeded yet. `flapping`: the channel is serving, but one of its circuits opened three times or more in the last hour and closed less than five minutes ago. `partly_ill`: some of the channel’s models or credentials are failing, or some processes cannot use the channel.',
});

const openedSchema = z.object({ hour: z.int(), day: z.int() }).meta({
  description:
    'How often circuits opened in the last hour and day. Only the last 50 openings of each circuit are kept.',
});

const operator = z
  .string()
  .nullable()
  .meta({ description: 'The operator who set the circuit. Null if it was set by the upstream’s responses.' });

const waitingSchema = z.object({ tasks: z.int(), oldest_at: unixSeconds().nullable() }).nullable();

const partSchema = z
  .object({
    scope: z.enum(['model', 'credential', 'host']).meta({
      description: '`host`: some processes cannot reach the upstream’s host for these requests.',
    }),
    credential: z.string(),
    model: z.string().nullable().meta({
      description: 'Null if the circuit covers all of the credential’s models, or those in `models`.',
    }),
    state,
    text: z.string(),
    since: unixSeconds(),
    until: unixSeconds('No request is sent before this time.').nullable(),
    sign: z.string().meta({ description: 'The kind of the last failure.' }),
    code: z.string(),
    evidence: z.array(z.object({ sign: z.string(), code: z.string(), accounts: z.int() })).meta({
      description: 'The number of failures since the circuit opened, and the number of affected accounts.',
    }),
    models: z.array(z.string()).nullable().meta({ description: 'The failing models. Null means all.' }),
    failed_tasks: z.array(z.string()),
    can_close: z.boolean().meta({ description: 'Whether an operator can close the circuit.' }),
    by: operator,
    reason: z.string().nullable(),
    opened: openedSchema,
    openings: z.array(
      z.object({
        at: unixSeconds(),
        sign: z.string(),
        code: z.string(),
        by: operator,
        reason: z.string().nullable(),
      }),
    ),
    processes: z.object({ ill: z.int(), of: z.int() }).nullable().meta({
      description:
        'The number of processes that cannot reach the upstream. Null if all processes share this circuit.',
    }),
    waiting: waitingSchema.meta({
      description:
        'The number of tasks that are waiting for the circuit to close, and when the oldest of them began to wait. Null if they could not be counted.',
    }),
  })
  .meta({ id: 'ChannelPart', description: 'A circuit that has opened at least once.' });

export const channelHealthSchema = z
  .object({
    channel: z.string(),
    state,
    text: z.string().meta({ description: 'The reason, in sentences.' }),
    since: unixSeconds().nullable().meta({ description: 'When the state began. Null if unknown.' }),
    until: unixSeconds()
      .nullable()
      .meta({ description: 'No request is sent before this time. Null if unknown.' }),
    opened: openedSchema,
    waiting: waitingSchema.meta({
      description:
        'The number of tasks that have not been submitted yet, and when the oldest of them began to wait. Null if they could not be counted.',
    }),
    parts: z.array(partSchema),
  })
  .meta({ id: 'ChannelHealth', description: 'A channel’s health. All responses use this format.' });

export function presentHealth(health: ChannelHealth): z.output<typeof channelHealthSchema> {
  const { channel, state: known, text, since, until, opened, waiting, parts } = health;
  return {
    channel,
    state: known,
    text,
    since: secondsOrNull(since),
    until: secondsOrNull(until),
    opened,
    waiting: presentWaiting(waiting),
    parts: parts.map(presentPart),
  };
}

function presentWaiting(waiting: WaitingTasks | undefined): z.output<typeof waitingSchema> {
  return waiting === undefined ? null : { tasks: waiting.tasks, oldest_at: secondsOrNull(waiting.oldest) };
}

function presentPart(part: PartHealth): z.output<typeof partSchema> {
  const { model, until, evidence, models, failedTasks, canClose, by, reason, openings, processes } = part;
  const { scope, credential, state: known, text, sign, code, opened, waiting } = part;
  return {
    scope,
    credential,
    state: known,
    text,
    sign,
    code,
    opened,
    waiting: presentWaiting(waiting),
    model: model ?? null,
    since: toSeconds(part.since),
    until: secondsOrNull(until),
    evidence: evidence.map(({ accounts, ...failure }) => ({ ...failure, accounts: accounts.length })),
    models: models === undefined ? null : [...models],
    failed_tasks: [...failedTasks],
    can_close: canClose,
    by: by ?? null,
    reason: reason ?? null,
    openings: openings.map((opening) => ({
      at: toSeconds(opening.at),
      sign: opening.sign,
      code: opening.code,
      by: opening.by ?? null,
      reason: opening.reason ?? null,
    })),
    processes: processes ?? null,
  };
}
