import { z } from 'zod';
import type { Row } from './admin-client.ts';
import { formatTime } from './table.ts';

const time = z.number().nullable();
const waitingSchema = z.object({ tasks: z.int(), oldest_at: time }).nullable();
const circuitSchema = z.object({
  credential: z.string(),
  model: z.string().nullable(),
  state: z.string(),
  text: z.string(),
  since: time,
  until: time,
  evidence: z.array(z.object({ sign: z.string(), accounts: z.int() })),
  opened: z.object({ hour: z.int(), day: z.int() }),
  openings: z.array(z.record(z.string(), z.unknown())),
  failed_tasks: z.array(z.string()),
  waiting: waitingSchema,
});
const healthSchema = z.object({
  channel: z.string(),
  state: z.string(),
  text: z.string(),
  since: time,
  until: time,
  opened: z.object({ hour: z.int(), day: z.int() }),
  waiting: waitingSchema,
  parts: z.array(circuitSchema),
});

export function healthColumns(health: unknown): Row {
  const { state, text, since, until, waiting } = healthSchema.parse(health);
  return { state, since, until, waiting: waiting?.tasks ?? null, health: text };
}

export function healthInTables(health: unknown): Row {
  const { parts, channel: _channel, opened, waiting, ...rest } = healthSchema.parse(health);
  const named = parts.map((part) => ({ ...part, of: nameOf(part) }));
  return {
    ...rest,
    ...openedColumns(opened),
    waiting: waiting?.tasks ?? null,
    oldest_waiting_at: waiting?.oldest_at ?? null,
    circuits: named.map(circuitRow),
    openings: named.flatMap(({ of, openings }) => openings.map((opening) => ({ of, ...opening }))),
  };
}

type Circuit = z.output<typeof circuitSchema>;

function circuitRow({ of, state, since, until, ...part }: Circuit & { readonly of: string }): Row {
  return {
    of,
    state,
    since,
    until,
    ...openedColumns(part.opened),
    waiting: part.waiting?.tasks ?? null,
    evidence: part.evidence.map(({ sign, accounts }) => `${sign} of ${accounts}`),
    failed_tasks: part.failed_tasks,
    text: part.text,
  };
}

function openedColumns({ hour, day }: Circuit['opened']): Row {
  return { opened_last_hour: hour, opened_last_day: day };
}

function nameOf({ credential, model }: Circuit): string {
  return model === null ? credential : `${credential}/${model}`;
}

export function healthLines(channels: unknown): readonly string[] {
  return (z.array(healthSchema).safeParse(channels).data ?? []).map(lineOf);
}

function lineOf({ channel, state, since, text, opened, waiting }: z.output<typeof healthSchema>): string {
  const begun = since === null ? '' : ` since ${formatTime(since)}`;
  const history =
    opened.day === 0
      ? ''
      : ` Circuit openings: ${opened.hour} in the last hour, ${opened.day} in the last day.`;
  const oldest = waiting?.oldest_at ?? null;
  const queue =
    waiting === null || oldest === null
      ? ''
      : ` Waiting tasks: ${waiting.tasks}, the oldest since ${formatTime(oldest)}.`;
  return `${channel}: ${state.replaceAll('_', ' ')}${begun}. ${text}${history}${queue}`;
}
