import { z } from 'zod';
import type { CallOutcome, RecordedCall } from './recorded-call.ts';
import type { RecordEvent, FlightRecord } from './flight-record.ts';

type Facts = Omit<FlightRecord, 'events' | 'history'>;

/** Everything that happened, oldest first, each in one line of words. */
export function describeEvents(record: Facts): RecordEvent[] {
  const { task, attempts, calls, ledger, actions, callback } = record;
  const events: RecordEvent[] = [
    {
      at: task.created_at,
      what: 'admission',
      text: `${task.model} for ${task.account} with key ${task.key}; hold ${task.hold}`,
    },
    ...planEvents(record),
    ...attempts.flatMap(attemptEvents),
    ...calls.map((call): RecordEvent => ({ at: call.at, what: 'exchange', text: describeCall(call) })),
    ...ledger.map((entry): RecordEvent => ({ at: entry.at, what: 'ledger', text: describeEntry(entry) })),
    ...actions.map(({ at, by, action, reason, detail }): RecordEvent => ({
      at,
      what: 'operator',
      text: `${by}: ${action} (${reason}): ${detail}`,
    })),
    ...(callback?.attempts ?? []).map(({ at, ms, status, error }): RecordEvent => ({
      at,
      what: 'callback',
      text: `${callback?.target ?? ''} ${
        status === null
          ? `did not answer${error === null ? '' : `: ${error}`}, after ${ms} ms`
          : `answered ${status} in ${ms} ms`
      }`,
    })),
    ...endEvents(record),
  ];
  // Stable: what happened in one millisecond stays in the order above.
  return events.toSorted((a, b) => a.at - b.at);
}

/** One line for each event: seconds since the task was created, what it is, the words. */
export function formatEvents(createdAt: number, events: readonly RecordEvent[]): string[] {
  const times = events.map(
    ({ at }) => `${at < createdAt ? '-' : '+'}${Math.abs(at - createdAt).toFixed(3)} s`,
  );
  const width = Math.max(0, ...times.map((time) => time.length));
  return events.map(({ what, text }, n) => `${(times[n] ?? '').padStart(width)}  ${what.padEnd(9)}  ${text}`);
}

function planEvents({ task, plan }: Facts): RecordEvent[] {
  if (plan === null) return [];
  const order = plan.candidates.map(({ channel, credential }) => `${channel}/${credential}`).join(', ');
  const fallback = plan.fallback?.candidates.map(({ channel }) => channel).join(', ');
  return [
    {
      at: task.created_at,
      what: 'plan',
      text: `${order}${fallback === undefined ? '' : `; if its job fails: ${fallback}`}`,
    },
    ...plan.dropped.map(({ channel, reason, detail }): RecordEvent => ({
      at: task.created_at,
      what: 'plan',
      text: `not ${channel}: ${reason} (${detail})`,
    })),
  ];
}

function attemptEvents(attempt: Facts['attempts'][number]): RecordEvent[] {
  const { n, channel, credential, state, started_at: startedAt, ended_at: endedAt } = attempt;
  const begun: RecordEvent = {
    at: startedAt,
    what: 'attempt',
    text: `${n} begins at ${channel}/${credential}`,
  };
  if (endedAt === null) return [begun];
  const job = attempt.upstream_id === null ? '' : `, job ${attempt.upstream_id}`;
  const code =
    attempt.code === null
      ? ''
      : ` (${attempt.code}${attempt.message === null ? '' : `: ${attempt.message}`})`;
  const by = attempt.adopted ? ' by an operator' : '';
  return [begun, { at: endedAt, what: 'attempt', text: `${n} ${state}${by}${job}${code}` }];
}

function describeCall({ step, channel, exchanges, outcome, ms, skipped }: RecordedCall): string {
  const wire = exchanges
    .map(
      ({ method, url, status, failure }) =>
        `${method} ${pathOf(url)} → ${status ?? failure?.code ?? 'nothing'}`,
    )
    .join(', ');
  const before = skipped === undefined ? '' : `; ${skipped} like the one before are not shown`;
  return `${step} at ${channel}: ${wire}: ${describeOutcome(outcome)} (${ms} ms${before})`;
}

function pathOf(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname : url;
}

export function describeOutcome(outcome: CallOutcome): string {
  switch (outcome.kind) {
    case 'accepted':
      return `accepted, job ${outcome.operation['id'] ?? ''}`;
    case 'pending':
      return outcome.progress === undefined ? outcome.phase : `${outcome.phase}, ${outcome.progress} %`;
    case 'succeeded':
      return `succeeded, ${count(outcome.items, 'result')}, ${JSON.stringify(outcome.facts)}`;
    case 'failed':
      return `failed, ${outcome.code} (${outcome.class})`;
    case 'error':
      return `${outcome.outcome}, ${outcome.code} (${outcome.class})`;
    case 'found':
      return `found ${outcome.operations.map(({ id }) => id).join(', ') || 'nothing'}`;
    case 'crashed':
      return `the adapter failed (${outcome.message})`;
    case 'cancelled':
    case 'refused':
      return outcome.kind;
    default:
      return outcome satisfies never;
  }
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}

const settledSchema = z.object({ estimated: z.boolean(), rule: z.number(), quantity: z.string() }).partial();

function describeEntry({ kind, amount, excess, note, basis }: Facts['ledger'][number]): string {
  const beyond = excess === null ? '' : ` and ${excess} beyond the hold`;
  const how =
    kind === 'settle' && basis !== null ? settledSchema.safeParse(parseJson(basis)).data : undefined;
  const rule = how?.rule === undefined ? '' : `; price rule ${how.rule + 1}, quantity ${how.quantity ?? '?'}`;
  return `${kind} ${amount}${beyond}${rule}${note === null ? '' : ` (${note})`}`;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function endEvents({ task, result_copy: copy }: Facts): RecordEvent[] {
  const at = task.completed_at;
  if (at === null) return [];
  const charge =
    task.charge === null ? '' : `, charge ${task.charge}${task.charge_estimated ? ' (estimated)' : ''}`;
  const error = task.error === null ? '' : `: ${task.error.code}, ${task.error.class ?? 'no class'}`;
  const end: RecordEvent = { at, what: 'end', text: `${task.status}${error}${charge}` };
  if (copy === null) return [end];
  const why = copy.error === null ? '' : ` (${copy.error})`;
  const tries = copy.tries === 1 ? '1 try' : `${copy.tries} tries`;
  const text = `${copy.state}, ${count(copy.names.length, 'file')} after ${tries}${why}`;
  return [end, { at, what: 'copy', text }];
}
