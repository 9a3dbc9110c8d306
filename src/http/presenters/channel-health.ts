import { z } from 'zod';
import { healthStates } from '../../health/channel-health.ts';
import type { ChannelHealth, PartHealth } from '../../health/channel-health.ts';
import { secondsOrNull, toSeconds, unixSeconds } from './unix-seconds.ts';

const state = z.enum(healthStates).meta({
  description:
    '`probing`: the cool-down is over, and no request has succeeded yet. `flapping`: it serves, and its circuits opened three times or more in the last hour. `partly_ill`: some of its models, credentials or processes cannot use it.',
});

const openedSchema = z
  .object({ hour: z.int(), day: z.int() })
  .meta({ description: 'How often circuits opened in the last hour and day; at most 50 of each are kept.' });

const operator = z.string().nullable().meta({ description: 'Null: the responses of the upstream decided.' });

const partSchema = z
  .object({
    scope: z.enum(['model', 'credential', 'host']).meta({
      description: '`host`: some processes do not reach the upstream with these requests.',
    }),
    credential: z.string(),
    model: z.string().nullable().meta({ description: 'Null: all models of the credential, or `models`.' }),
    state,
    text: z.string(),
    since: unixSeconds(),
    until: unixSeconds('No request before this.').nullable(),
    sign: z.string().meta({ description: 'The kind of the last failure.' }),
    code: z.string(),
    evidence: z
      .array(z.object({ sign: z.string(), code: z.string(), accounts: z.int() }))
      .meta({ description: 'What failed, and of how many accounts, since it opened.' }),
    models: z.array(z.string()).nullable().meta({ description: 'The failing models; null: all.' }),
    failed_tasks: z.array(z.string()),
    can_close: z.boolean().meta({ description: 'Operators can close it.' }),
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
    processes: z
      .object({ ill: z.int(), of: z.int() })
      .nullable()
      .meta({ description: 'How many processes do not reach it; null: they share this circuit.' }),
  })
  .meta({ id: 'ChannelPart', description: 'A circuit that opened at least once.' });

export const channelHealthSchema = z
  .object({
    channel: z.string(),
    state,
    text: z.string().meta({ description: 'Why, in sentences.' }),
    since: unixSeconds().nullable().meta({ description: 'When the state began; null: it is not known.' }),
    until: unixSeconds().nullable().meta({ description: 'No request before this; null: nothing is known.' }),
    opened: openedSchema,
    waiting: z.object({ tasks: z.int(), oldest_at: unixSeconds().nullable() }).nullable().meta({
      description: 'Tasks that are not submitted yet, and since when; null: they could not be counted.',
    }),
    parts: z.array(partSchema),
  })
  .meta({ id: 'ChannelHealth', description: 'How well a channel is, with the same words everywhere.' });

export function presentHealth(health: ChannelHealth): z.output<typeof channelHealthSchema> {
  const { channel, state: known, text, since, until, opened, waiting, parts } = health;
  return {
    channel,
    state: known,
    text,
    since: secondsOrNull(since),
    until: secondsOrNull(until),
    opened,
    waiting:
      waiting === undefined ? null : { tasks: waiting.tasks, oldest_at: secondsOrNull(waiting.oldest) },
    parts: parts.map(presentPart),
  };
}

function presentPart(part: PartHealth): z.output<typeof partSchema> {
  const { model, until, evidence, models, failedTasks, canClose, by, reason, openings, processes, ...rest } =
    part;
  return {
    ...rest,
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
