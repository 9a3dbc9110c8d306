import { z } from 'zod';
import { healthStates } from '../../health/health-words.ts';
import type { ChannelHealth, PartHealth } from '../../health/channel-health.ts';
import { secondsOrNull, toSeconds, unixSeconds } from './unix-seconds.ts';

const state = z.enum(healthStates).meta({
  description:
    '`probing`: the cool-down is over, but no request has succeeded yet. `flapping`: the channel serves, but one of its circuits opened three times or more in the last hour and closed less than five minutes ago. `partly_ill`: some of its models or credentials, or some processes, cannot use it.',
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
    until: unixSeconds('No request is sent before this time.').nullable(),
    sign: z.string().meta({ description: 'The kind of the last failure.' }),
    code: z.string(),
    evidence: z.array(z.object({ sign: z.string(), code: z.string(), accounts: z.int() })).meta({
      description: 'The failures since the circuit opened, and the number of accounts that saw them.',
    }),
    models: z.array(z.string()).nullable().meta({ description: 'The failing models; null: all.' }),
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
        'The number of processes that do not reach the upstream. Null: all processes share this circuit.',
    }),
  })
  .meta({ id: 'ChannelPart', description: 'A circuit that opened at least once.' });

export const channelHealthSchema = z
  .object({
    channel: z.string(),
    state,
    text: z.string().meta({ description: 'Why, in sentences.' }),
    since: unixSeconds()
      .nullable()
      .meta({ description: 'The time at which the state began. Null: it is not known.' }),
    until: unixSeconds()
      .nullable()
      .meta({ description: 'No request is sent before this time. Null: the time is not known.' }),
    opened: openedSchema,
    waiting: z.object({ tasks: z.int(), oldest_at: unixSeconds().nullable() }).nullable().meta({
      description:
        'The tasks that are not submitted yet, and the time since which the oldest one waits. Null: they could not be counted.',
    }),
    parts: z.array(partSchema),
  })
  .meta({ id: 'ChannelHealth', description: 'The health of a channel, with the same words everywhere.' });

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
