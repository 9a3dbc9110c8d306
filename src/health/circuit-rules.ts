import type { UpstreamOutcome } from '../errors/upstream-outcome.ts';

/**
 * What a response reveals about a credential's health.
 * - `alive`: the upstream read the request and judged it, for example by rejecting or moderating it.
 * - `account`: the key was rejected or the balance was too low. Persists until an operator acts.
 * - `model`: only this model was rejected. Persists until an operator acts.
 * - `unreachable`: there was no response, possibly because of this process's own network.
 */
export type HealthSign = 'alive' | 'failure' | 'throttled' | 'account' | 'model' | 'unreachable';

export interface JudgedError {
  readonly outcome: UpstreamOutcome;
  readonly code: string;
  readonly status: number | undefined;
}

const unanswered = new Set([
  'dns_failed',
  'connect_failed',
  'connect_timeout',
  'tls_failed',
  'timeout',
  'connection_lost',
]);

/**
 * Returns undefined if the failure says nothing about the credential's health, because nothing was sent or the adapter
 * itself failed.
 */
export function signOf({ outcome, code, status }: JudgedError): HealthSign | undefined {
  if (status === undefined) return unanswered.has(code) ? 'unreachable' : undefined;
  switch (outcome) {
    case 'rejected':
      return 'alive';
    case 'throttled':
      return 'throttled';
    case 'unavailable':
      return signOfStatus(status);
    case 'not_sent':
    case 'ambiguous':
      return 'failure';
    default:
      return outcome satisfies never;
  }
}

/**
 * 401 and 402 concern the key and the balance. A 403 may mean that the key lacks permission for one model. A redirect
 * is temporary.
 */
function signOfStatus(status: number): HealthSign {
  if (status === 401 || status === 402) return 'account';
  return status >= 300 && status < 400 ? 'failure' : 'model';
}

export type BadSign = Exclude<HealthSign, 'alive'>;

export interface CircuitPlace {
  readonly channel: string;
  readonly credential: string;
  readonly model?: string;
}

export function placeOf(id: string): CircuitPlace {
  const [channel = '', credential = '', ...model] = id.split('/');
  return { channel, credential, ...(model.length === 0 ? {} : { model: model.join('/') }) };
}

interface CircuitRule {
  readonly tasks: number;
  readonly coolDownMs: number;
  /** While probes fail, the cool-down doubles up to this limit. */
  readonly coolDownMaxMs: number;
}

const second = 1000;
const minute = 60 * second;

/**
 * An account that has run out of funds usually stays that way for a long time, so its cool-downs are long. An upstream
 * at capacity soon has room again, so its cool-downs are short.
 */
export const circuitRules: Record<BadSign, CircuitRule> = {
  failure: { tasks: 5, coolDownMs: 15 * second, coolDownMaxMs: 10 * minute },
  throttled: { tasks: 10, coolDownMs: 10 * second, coolDownMaxMs: minute },
  account: { tasks: 2, coolDownMs: 5 * minute, coolDownMaxMs: 60 * minute },
  model: { tasks: 2, coolDownMs: 5 * minute, coolDownMaxMs: 60 * minute },
  unreachable: { tasks: 5, coolDownMs: 15 * second, coolDownMaxMs: minute },
};

/** If a circuit reopens within this time after closing, its new cool-down is twice the previous one. */
export const relapseMs = 5 * minute;

export interface CircuitRecord {
  readonly state: 'open' | 'closed';
  readonly sign: BadSign;
  readonly code: string;
  readonly coolDownMs: number;
  readonly until: number;
  readonly at: number;
  /**
   * The tasks whose failures opened the circuit or kept it open. The newest is last. The tasks themselves may be at
   * fault.
   */
  readonly failedTasks?: readonly string[];
  /** While the circuit is open, the tasks in `failedTasks` may not send requests until this time. */
  readonly suspectsUntil?: number;
  /**
   * The failures that opened the circuit. If they all belong to one account, other accounts' requests are still sent.
   */
  readonly evidence?: readonly CircuitEvidence[];
  /**
   * The failing models of a credential's circuit. Requests for other models serve as probes. Undefined if all models
   * are affected.
   */
  readonly models?: readonly string[];
  /** The operator who opened or closed the circuit. Undefined if upstream responses did. */
  readonly by?: string;
  readonly reason?: string;
  readonly openings?: readonly CircuitOpening[];
}

/** A circuit's id is `<channel>/<credential>`, followed by `/<model>` if the circuit protects a single model. */
export interface Circuit extends CircuitRecord {
  readonly id: string;
}

export interface CircuitEvidence {
  readonly sign: BadSign;
  readonly code: string;
  readonly accounts: readonly string[];
}

/** One opening of the circuit, by an upstream's responses or an operator. `at` is in Unix milliseconds. */
export interface CircuitOpening {
  readonly at: number;
  readonly sign: BadSign;
  readonly code: string;
  readonly by?: string;
  readonly reason?: string;
}

export const openingsMax = 50;
export const historyMs = 24 * 60 * minute;

/** A failed probe keeps the circuit open and is not counted as another opening. */
function openingsWith(opening: CircuitOpening, before: CircuitRecord | undefined): readonly CircuitOpening[] {
  const { openings = [], state } = before ?? {};
  if (state === 'open') return openings;
  const recent = openings.filter(({ at }) => opening.at - at < historyMs);
  return [...recent, opening].slice(-openingsMax);
}

const failedTasksMax = 20;
const evidenceMax = 20;

export interface CircuitUser {
  readonly account?: string | undefined;
  readonly model: string;
}

export function isConcerned(record: CircuitRecord, user: CircuitUser): boolean {
  if (record.by !== undefined) return true;
  return record.models?.includes(user.model) !== false && !isOtherAccount(record, user);
}

export function isOtherAccount({ by, evidence }: CircuitRecord, { account }: CircuitUser): boolean {
  const [only, ...others] = accountsOf(evidence);
  const isOneAccounts = by === undefined && only !== undefined && others.length === 0;
  return isOneAccounts && account !== undefined && account !== only;
}

export function accountsOf(evidence: readonly CircuitEvidence[] = []): readonly string[] {
  return [...new Set(evidence.flatMap(({ accounts }) => accounts))];
}

export function withEvidence(record: CircuitRecord, failure: CircuitEvidence, model: string): CircuitRecord {
  const { models } = record;
  return {
    ...record,
    evidence: evidenceWith(record.evidence, failure),
    ...(models === undefined ? {} : { models: joined(models, [model]) }),
  };
}

function evidenceWith(
  known: readonly CircuitEvidence[] = [],
  { sign, code, accounts }: CircuitEvidence,
): readonly CircuitEvidence[] {
  const same = known.find((one) => one.sign === sign);
  const others = known.filter((one) => one !== same);
  return [...others, { sign, code, accounts: joined(same?.accounts, accounts) }];
}

function joined(known: readonly string[] = [], more: readonly string[]): readonly string[] {
  return [...new Set([...known, ...more])].slice(0, evidenceMax);
}

export function isSuspect(record: CircuitRecord | undefined, task: string): boolean {
  return record?.failedTasks?.includes(task) === true;
}

/** Returns the time, in Unix milliseconds, until which this task may not send requests. */
export function closedTo(
  record: CircuitRecord,
  { task, ...user }: CircuitUser & { readonly task: string },
): number {
  if (!isConcerned(record, user)) return 0;
  return isSuspect(record, task) ? Math.max(record.until, record.suspectsUntil ?? 0) : record.until;
}

/** How far the clocks of two processes may differ. */
const clocksApartMs = minute;

/**
 * Returns true if the circuit would stay open for longer than any cool-down lasts, because the database's clock has
 * been set back. Never true if an operator opened the circuit, because operators may choose any time.
 */
export function isFarAhead(
  { by, until, suspectsUntil = 0, coolDownMs }: CircuitRecord,
  now: number,
): boolean {
  if (by !== undefined) return false;
  const untilMax = now + coolDownMs + clocksApartMs;
  return until > untilMax || suspectsUntil > untilMax + coolDownMs;
}

export function dueAtOnce<Record extends CircuitRecord>(record: Record): Record {
  return { ...record, until: 0, suspectsUntil: 0 };
}

export interface Failure {
  readonly tasks: readonly string[];
  readonly accounts: readonly string[];
  readonly models?: readonly string[];
  readonly sign: BadSign;
  readonly code: string;
  readonly retryAfterMs?: number | undefined;
}

export function openedBy(failure: Failure, before: CircuitRecord | undefined, now: number): CircuitRecord {
  const rule = circuitRules[failure.sign];
  const relapsed = before !== undefined && (before.state === 'open' || now - before.at < relapseMs);
  const grown = relapsed ? Math.max(before.coolDownMs * 2, rule.coolDownMs) : rule.coolDownMs;
  const coolDownMs = Math.min(Math.max(grown, failure.retryAfterMs ?? 0), rule.coolDownMaxMs);
  const failedTasks = [...new Set([...(before?.failedTasks ?? []), ...failure.tasks])];
  const open = before?.state === 'open' ? before : undefined;
  const models = failure.models ?? open?.models;
  return {
    state: 'open',
    sign: failure.sign,
    code: failure.code,
    coolDownMs,
    until: now + coolDownMs,
    at: now,
    failedTasks: failedTasks.slice(-failedTasksMax),
    suspectsUntil: now + 2 * coolDownMs,
    evidence: evidenceWith(open?.evidence, failure),
    ...(models === undefined ? {} : { models: joined(open?.models, models) }),
    openings: openingsWith({ at: now, sign: failure.sign, code: failure.code }, before),
  };
}

/**
 * Use this if a failure is not new evidence, because its task had already failed here or the response concerns only the
 * model. The next probe, by another task, is not delayed.
 */
export function failedAgain(record: CircuitRecord, now: number): CircuitRecord {
  return { ...record, suspectsUntil: now + 2 * record.coolDownMs };
}

/**
 * An operator's decision. If the operator opens the circuit, nothing is sent before `until`, whatever the requests in
 * flight report.
 */
export interface CircuitOrder {
  readonly state: 'open' | 'closed';
  readonly until: number;
  readonly by: string;
  readonly reason: string;
}

export function orderedBy(
  order: CircuitOrder,
  before: CircuitRecord | undefined,
  now: number,
): CircuitRecord {
  const { state, until, by, reason } = order;
  const { sign = 'failure', failedTasks = [], openings = [] } = before ?? {};
  // Start with a short cool-down again, because an operator has checked the upstream.
  const shared = {
    sign,
    code: 'operator',
    coolDownMs: 0,
    at: now,
    failedTasks,
    suspectsUntil: 0,
    by,
    reason,
  };
  const opening = { at: now, sign, code: 'operator', by, reason };
  return state === 'open'
    ? { ...shared, state, until, openings: openingsWith(opening, before) }
    : { ...shared, state, until: 0, openings };
}

export function scopeOf(sign: BadSign): 'credential' | 'model' {
  return sign === 'account' ? 'credential' : 'model';
}

/**
 * Returns true if such a failure of one model suggests that other models fail too. A missing or forbidden model and an
 * account problem do not.
 */
export function spreads(sign: BadSign): boolean {
  return sign !== 'model' && sign !== 'account';
}

/** Keeps the tasks that opened the circuit, so that they cannot open it again after this success. */
export function closedAfter(record: CircuitRecord, now: number): CircuitRecord {
  const { sign, code, coolDownMs, failedTasks = [], openings = [] } = record;
  return {
    state: 'closed',
    sign,
    code,
    coolDownMs,
    until: 0,
    at: now,
    failedTasks,
    suspectsUntil: 0,
    openings,
  };
}
