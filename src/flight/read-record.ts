import { defined } from '../base/defined.ts';
import { formatMicros } from '../money/money.ts';
import type { Task } from '../task/record.ts';
import type { LedgerEntry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Channels } from '../routing/channels.ts';
import type { Attempt, PastAttempt } from '../task/attempt.ts';
import { waitsOf } from '../task/state-wait.ts';
import { waitPlace, waitWords, type PastWait, type Wait } from '../task/wait.ts';
import type { CallbackRecord } from '../task/callback-record.ts';
import type { ExchangeStore } from '../store/exchanges.ts';
import type { RequestRecord, RequestStore } from '../store/requests.ts';
import type { ResultCopy, ResultCopyStore } from '../store/result-copies.ts';
import type { TaskStore } from '../store/tasks.ts';
import { recordedCallSchema, type RecordedCall } from './recorded-call.ts';
import { redactRequest } from './redact.ts';
import { planSchema, recordFormat, recordVersion, type FlightRecord } from './flight-record.ts';
import { describeEvents } from './timeline.ts';

/** Each source is read with a single indexed query. A missing part is empty or null. */
export interface RecordSources {
  readonly tasks: Pick<TaskStore, 'find'>;
  readonly requests: Pick<RequestStore, 'find'>;
  readonly exchanges: Pick<ExchangeStore, 'find'>;
  readonly resultCopies: Pick<ResultCopyStore, 'find'>;
  readonly ledger: Pick<Ledger, 'entriesOfTask'>;
  readonly channels: Channels;
  /** Returns JSON, or undefined if Temporal does not have the history or does not respond. */
  readonly history: (task: string) => Promise<unknown>;
  readonly now: () => number;
}

export async function readTaskRecord(
  sources: RecordSources,
  id: string,
  options: { readonly history: boolean },
): Promise<FlightRecord | undefined> {
  const task = await sources.tasks.find(id);
  if (task === undefined) return undefined;
  const [request, texts, entries, copy, history] = await Promise.all([
    sources.requests.find(id),
    sources.exchanges.find(id),
    sources.ledger.entriesOfTask(id),
    sources.resultCopies.find(id),
    options.history ? sources.history(id) : undefined,
  ]);
  const calls = readCalls(texts);
  const record = {
    format: recordFormat,
    version: recordVersion,
    recorded_at: sources.now() / 1000,
    task: presentTask(task),
    plan: readPlan(task, request),
    request: request === undefined ? null : JSON.stringify(redactRequest(request.request)),
    attempts: task.attempts.map(presentAttempt),
    waits: waitsOf(task).map(presentWait),
    calls,
    ledger: entries.map(presentEntry),
    actions: (task.actions ?? []).map(({ at, by, action, reason, detail }) => ({
      at: at / 1000,
      by,
      action,
      reason,
      detail,
    })),
    callback: task.callback === undefined ? null : presentCallback(task.callback),
    result_copy: copy === undefined ? null : presentCopy(copy),
    mappings: mappingsOf(calls, task.model, sources.channels),
  } as const;
  return { ...record, events: describeEvents(record), ...defined({ history }) };
}

/** Returns the calls in the order in which they started. Calls that this version cannot read are omitted. */
function readCalls(texts: readonly string[]): RecordedCall[] {
  const calls = texts.flatMap((text) => recordedCallSchema.safeParse(JSON.parse(text)).data ?? []);
  return calls.toSorted((a, b) => a.at - b.at);
}

function readPlan({ plan }: Task, request: RequestRecord | undefined): FlightRecord['plan'] {
  if (request === undefined) return null;
  return planSchema.safeParse({ ...plan, dropped: request.dropped }).data ?? null;
}

function mappingsOf(
  calls: readonly RecordedCall[],
  model: string,
  channels: Channels,
): Record<string, string> {
  const ids = [...new Set(calls.map(({ channel }) => channel))];
  return Object.fromEntries(
    ids.flatMap((id) => {
      const mapping = channels(id)?.config.models[model]?.mapping;
      return mapping === undefined ? [] : [[id, JSON.stringify(mapping)]];
    }),
  );
}

function secondsOrNull(ms: number | undefined): number | null {
  return ms === undefined ? null : ms / 1000;
}

function presentTask(task: Task): FlightRecord['task'] {
  const { outcome, error, charge } = task;
  return {
    id: task.id,
    kind: task.kind,
    model: task.model,
    status: task.status,
    account: task.account,
    key: task.key,
    channel: task.channel ?? null,
    upstream_id: task.upstreamId ?? null,
    hold: formatMicros(task.hold),
    charge: charge === undefined ? null : formatMicros(charge),
    charge_estimated: task.chargeEstimated ?? false,
    needs_attention: task.attention ?? null,
    created_at: task.createdAt / 1000,
    completed_at: secondsOrNull(task.completedAt),
    deadline_at: task.deadlineAt / 1000,
    error:
      error === undefined ? null : { code: error.code, message: error.message, class: error.class ?? null },
    outcome: outcome === undefined ? null : presentOutcome(outcome),
  };
}

function presentOutcome(outcome: NonNullable<Task['outcome']>): NonNullable<FlightRecord['task']['outcome']> {
  if (outcome.kind === 'failed') {
    return { kind: 'failed', code: outcome.code, class: outcome.failure?.class ?? null };
  }
  const { items, facts, cost } = outcome;
  return { kind: 'succeeded', items: items.length, facts, cost: cost ?? null };
}

function presentWait(wait: Wait | PastWait): FlightRecord['waits'][number] {
  return {
    cause: wait.cause,
    text: waitWords(wait),
    place: waitPlace(wait),
    since: wait.since / 1000,
    ended_at: 'ended' in wait ? wait.ended / 1000 : null,
  };
}

function presentAttempt(attempt: Attempt): FlightRecord['attempts'][number] {
  return {
    n: attempt.n,
    state: attempt.state,
    channel: attempt.channel,
    credential: attempt.credential,
    upstream_id: attempt.operation?.id ?? null,
    adopted: attempt.adopted ?? false,
    code: attempt.code ?? null,
    message: attempt.message ?? null,
    class: attempt.failure?.class ?? null,
    started_at: attempt.startedAt / 1000,
    ended_at: secondsOrNull(attempt.endedAt),
    ...defined({ past: attempt.past?.map(presentPast) }),
  };
}

function presentPast(past: PastAttempt): NonNullable<FlightRecord['attempts'][number]['past']>[number] {
  return {
    state: past.state,
    upstream_id: past.upstreamId ?? null,
    adopted: past.adopted ?? false,
    code: past.code ?? null,
    started_at: past.startedAt / 1000,
    ended_at: past.endedAt / 1000,
    times: past.times ?? 1,
    last_at: (past.lastAt ?? past.endedAt) / 1000,
  };
}

function presentEntry(entry: LedgerEntry): FlightRecord['ledger'][number] {
  return {
    kind: entry.kind,
    amount: formatMicros(entry.amount),
    excess: entry.excess === undefined ? null : formatMicros(entry.excess),
    basis: entry.basis ?? null,
    note: entry.note ?? null,
    at: entry.at / 1000,
  };
}

function presentCallback({ state, target, attempts }: CallbackRecord): NonNullable<FlightRecord['callback']> {
  const tries = attempts.map(({ at, durationMs, status, error }) => ({
    at: at / 1000,
    ms: durationMs,
    status: status ?? null,
    error: error ?? null,
  }));
  return { state, target, attempts: tries };
}

function presentCopy({ state, names, tries, error }: ResultCopy): NonNullable<FlightRecord['result_copy']> {
  return { state, names: [...names], tries, error: error ?? null };
}
