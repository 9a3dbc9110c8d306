import { parseMicros } from '../money/money.ts';
import { formatMovement, movementOf } from '../money/movement.ts';
import type { CallOutcome, RecordedCall } from './recorded-call.ts';
import type { RecordEvent, FlightRecord } from './flight-record.ts';

type Facts = Omit<FlightRecord, 'events' | 'history'>;

export function describeEvents(record: Facts): RecordEvent[] {
  const { task, attempts, waits, calls, ledger, actions } = record;
  const admitted = `${task.model} for ${task.account} with key ${task.key}; hold ${task.hold}`;
  const events = [
    event(task.created_at, 'admission', admitted),
    ...planEvents(record),
    ...attempts.flatMap(attemptEvents),
    ...waits.map(waitEvent),
    ...calls.map((call) => event(call.at, 'exchange', describeCall(call))),
    ...ledger.map((entry) => event(entry.at, 'ledger', describeEntry(entry))),
    ...actions.map(({ at, by, action, reason, detail }) =>
      event(at, 'operator', `${by}: ${action} (${reason}): ${detail}`),
    ),
    ...callbackEvents(record),
    ...endEvents(record),
  ];
  // The sort is stable, so events in the same millisecond keep the order above.
  return events.toSorted((a, b) => a.at - b.at);
}

function event(at: number, what: RecordEvent['what'], text: string): RecordEvent {
  return { at, what, text };
}

/**
 * Writes one line per event: its time, the time since the task's creation, its kind, and a description. Repetitions
 * become one line with a count.
 */
export function formatEvents(createdAt: number, events: readonly RecordEvent[]): string[] {
  const folded = foldRepeats(events);
  const times = folded.map(({ at }) => relative(at - createdAt));
  const width = Math.max(0, ...times.map((time) => time.length));
  return folded.map(
    ({ at, what, text }, n) =>
      `${absolute(at)}  ${(times[n] ?? '').padStart(width)}  ${what.padEnd(9)}  ${text}`,
  );
}

function absolute(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

/** Returns text such as `+1.203 s`, `+12 min 5 s` or `+3 h 7 min`. */
function relative(seconds: number): string {
  const sign = seconds < 0 ? '-' : '+';
  const length = Math.abs(seconds);
  if (length < 120) return `${sign}${length.toFixed(3)} s`;
  const minutes = Math.floor(length / 60);
  if (minutes < 120) return `${sign}${minutes} min ${Math.floor(length % 60)} s`;
  return `${sign}${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const blockMax = 12;

/** Consecutive blocks of lines that differ only in numbers are reduced to the first block and a count. */
function foldRepeats(events: readonly RecordEvent[]): RecordEvent[] {
  const folded: RecordEvent[] = [];
  const likeness = events.map(({ what, text }) => `${what} ${text.replaceAll(/\d+/g, '0')}`);
  for (let at = 0; at < events.length;) {
    const size = sizes.find((lines) => repeatsAt(likeness, at, lines) > 0);
    if (size === undefined) {
      folded.push(...events.slice(at, at + 1));
      at += 1;
      continue;
    }
    const repeats = repeatsAt(likeness, at, size);
    const next = at + size * (repeats + 1);
    const last = events[next - 1];
    folded.push(...events.slice(at, at + size));
    if (last !== undefined) {
      const lines = size === 1 ? 'the line above' : `the ${size} lines above`;
      folded.push({
        ...last,
        text: `${lines}, ${repeats === 1 ? 'once' : `${repeats} times`} more until now`,
      });
    }
    at = next;
  }
  return folded;
}

const sizes = Array.from({ length: blockMax }, (_, n) => n + 1);

/**
 * Returns how often a block of `size` lines repeats directly after itself. A single line must repeat at least twice.
 */
function repeatsAt(likeness: readonly string[], at: number, size: number): number {
  const isLike = (from: number): boolean =>
    from + size <= likeness.length &&
    Array.from({ length: size }, (_, n) => likeness[at + n] === likeness[from + n]).every(Boolean);
  let repeats = 0;
  while (isLike(at + size * (repeats + 1))) repeats += 1;
  return size === 1 && repeats === 1 ? 0 : repeats;
}

function planEvents({ task, plan }: Facts): RecordEvent[] {
  if (plan === null) return [];
  const order = plan.candidates.map(({ channel, credential }) => `${channel}/${credential}`).join(', ');
  const fallback = plan.fallback?.candidates.map(({ channel }) => channel).join(', ');
  const texts = [
    `${order}${fallback === undefined ? '' : `; if its job fails: ${fallback}`}`,
    ...plan.dropped.map(({ channel, reason, detail }) => `not ${channel}: ${reason} (${detail})`),
  ];
  return texts.map((text) => event(task.created_at, 'plan', text));
}

function waitEvent({ text, place, since, ended_at: end }: Facts['waits'][number]): RecordEvent {
  const where = place === '' ? '' : `${place}: `;
  const until =
    end === null ? ' It has not ended.' : ` Until ${absolute(end)}, ${(end - since).toFixed(1)} s.`;
  return event(since, 'wait', `${where}${text}${until}`);
}

type Attempted = Facts['attempts'][number];

function attemptEvents({ past = [], ...attempt }: Attempted): RecordEvent[] {
  const { n, channel, credential, started_at: lastStart } = attempt;
  const starts = new Set([...past.map(({ started_at: start }) => start), lastStart]);
  const begun = [...starts].map((at, nth) =>
    event(at, 'attempt', `${n} begins at ${channel}/${credential}${nth === 0 ? '' : ' again'}`),
  );
  const ended = past.map(({ times, last_at: lastAt, ...end }) => {
    const again = times === 1 ? '' : `, ${times} times until ${absolute(lastAt)}`;
    return event(end.ended_at, 'attempt', `${endText(n, { ...end, message: null })}${again}`);
  });
  const { ended_at: endedAt } = attempt;
  if (endedAt === null) return [...begun, ...ended];
  return [...begun, ...ended, event(endedAt, 'attempt', endText(n, attempt))];
}

type End = Pick<Attempted, 'state' | 'adopted' | 'code' | 'message' | 'upstream_id'>;

function endText(n: number, { state, adopted, code, message, upstream_id: job }: End): string {
  const by = adopted ? ' by an operator' : '';
  const at = job === null ? '' : `, job ${job}`;
  const why = code === null ? '' : ` (${code}${message === null ? '' : `: ${message}`})`;
  return `${n} ${state}${by}${at}${why}`;
}

function describeCall({ step, channel, exchanges, outcome, ms, skipped }: RecordedCall): string {
  const wire = exchanges
    .map(
      ({ method, url, status, failure }) =>
        `${method} ${pathOf(url)} → ${status ?? failure?.code ?? 'nothing'}`,
    )
    .join(', ');
  const before = skipped === undefined ? '' : `; ${skipped} like the previous one are not shown`;
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

function describeEntry({ kind, amount, excess, note }: Facts['ledger'][number]): string {
  const beyond = excess === null ? '' : ` and ${excess} beyond the hold`;
  const micros = parseMicros(amount);
  const moved = micros === undefined ? amount : formatMovement(movementOf({ kind, amount: micros }));
  return `${kind} ${moved}${beyond}${note === null ? '' : ` (${note})`}`;
}

function callbackEvents({ callback }: Facts): RecordEvent[] {
  if (callback === null) return [];
  return callback.attempts.map(({ at, ms, status, error }) => {
    const why = error === null ? '' : `: ${error}`;
    const heard =
      status === null ? `did not respond${why}, after ${ms} ms` : `responded with ${status} in ${ms} ms`;
    return event(at, 'callback', `${callback.target} ${heard}`);
  });
}

function endEvents({ task, result_copy: copy }: Facts): RecordEvent[] {
  const at = task.completed_at;
  if (at === null) return [];
  const charge =
    task.charge === null ? '' : `, charge ${task.charge}${task.charge_estimated ? ' (estimated)' : ''}`;
  const error = task.error === null ? '' : `: ${task.error.code}, ${task.error.class ?? 'no class'}`;
  const end = event(at, 'end', `${task.status}${error}${charge}`);
  if (copy === null) return [end];
  const why = copy.error === null ? '' : ` (${copy.error})`;
  const tries = copy.tries === 1 ? '1 try' : `${copy.tries} tries`;
  return [end, event(at, 'copy', `${copy.state}, ${count(copy.names.length, 'file')} after ${tries}${why}`)];
}
