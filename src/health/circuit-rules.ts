import type { UpstreamOutcome } from '../errors/upstream-outcome.ts';

/**
 * What an answer says about the health of a credential. `alive`: the upstream read the request and judged it (a
 * rejection and a moderation are that). `account`: the key or the balance; `model`: only this model is refused there;
 * both last until an operator acts. `unreachable`: no answer came, which may be the fault of this process's own network.
 */
export type HealthSign = 'alive' | 'failure' | 'throttled' | 'account' | 'model' | 'unreachable';

export interface JudgedError {
  readonly outcome: UpstreamOutcome;
  readonly code: string;
  /** Of the upstream's answer; absent: there was none. */
  readonly status: number | undefined;
}

/** Exchanges that ended without an answer, in the words of `src/http-client`. */
const unanswered = new Set([
  'dns_failed',
  'connect_failed',
  'connect_timeout',
  'tls_failed',
  'timeout',
  'connection_lost',
]);

/** Undefined: it says nothing, because nothing was sent, or because the adapter failed. */
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

/** 401 and 402 are about the key and the balance; a 403 may be a permission for one model; a redirect passes soon. */
function signOfStatus(status: number): HealthSign {
  if (status === 401 || status === 402) return 'account';
  return status >= 300 && status < 400 ? 'failure' : 'model';
}

export type BadSign = Exclude<HealthSign, 'alive'>;

/** What a circuit protects: a credential of a channel, or one model behind it. */
export interface CircuitPlace {
  readonly channel: string;
  readonly credential: string;
  readonly model?: string;
}

/**
 * Reads the id of a circuit: `<channel>/<credential>`, or `<channel>/<credential>/<model>`. Only the name of a model may
 * contain slashes.
 */
export function placeOf(id: string): CircuitPlace {
  const [channel = '', credential = '', ...model] = id.split('/');
  return { channel, credential, ...(model.length === 0 ? {} : { model: model.join('/') }) };
}

interface CircuitRule {
  /** Failures of this many tasks open the circuit, if nothing succeeds between them. */
  readonly tasks: number;
  readonly coolDownMs: number;
  /** The cool-down doubles up to this, as long as probes fail. */
  readonly coolDownMaxMs: number;
}

const second = 1000;
const minute = 60 * second;

/** An account without balance stays without for long; an upstream at its capacity has room again soon. */
export const circuitRules: Record<BadSign, CircuitRule> = {
  failure: { tasks: 5, coolDownMs: 15 * second, coolDownMaxMs: 10 * minute },
  throttled: { tasks: 10, coolDownMs: 10 * second, coolDownMaxMs: minute },
  account: { tasks: 2, coolDownMs: 5 * minute, coolDownMaxMs: 60 * minute },
  model: { tasks: 2, coolDownMs: 5 * minute, coolDownMaxMs: 60 * minute },
  unreachable: { tasks: 5, coolDownMs: 15 * second, coolDownMaxMs: minute },
};

/** A circuit that opens again this soon after it closed continues with the cool-down that it had reached. */
export const relapseMs = 5 * minute;

/** One circuit, as all processes share it. Times in Unix milliseconds. */
export interface CircuitRecord {
  readonly state: 'open' | 'closed';
  readonly sign: BadSign;
  /** The upstream's code of the failure that opened it. */
  readonly code: string;
  readonly coolDownMs: number;
  /** Open: no request before this. */
  readonly until: number;
  /** Of the last change of state. */
  readonly at: number;
  /** The tasks whose failures opened it or kept it open, newest last: the fault may be theirs. */
  readonly failedTasks?: readonly string[];
  /** Open: no request of those tasks before this. */
  readonly suspectsUntil?: number;
  /** The failures that opened the circuit. While they are of one account, requests of other accounts are probes. */
  readonly evidence?: readonly CircuitEvidence[];
  /**
   * When a credential's circuit is open: its failing models. Requests of other models are probes. Undefined: the
   * circuit concerns all models.
   */
  readonly models?: readonly string[];
  /** The operator who opened or closed it, and why; absent: the upstream's answers did. */
  readonly by?: string;
  readonly reason?: string;
  /** The openings of the last day, newest last. */
  readonly openings?: readonly CircuitOpening[];
}

/** The id is `<channel>/<credential>`, followed by `/<model>` if the circuit protects only one model. */
export interface Circuit extends CircuitRecord {
  readonly id: string;
}

/** One kind of failure. `code` is that of the last failure. */
export interface CircuitEvidence {
  readonly sign: BadSign;
  readonly code: string;
  readonly accounts: readonly string[];
}

/** At `at`, Unix milliseconds, for this reason: the upstream's answers, or an operator. */
export interface CircuitOpening {
  readonly at: number;
  readonly sign: BadSign;
  readonly code: string;
  readonly by?: string;
  readonly reason?: string;
}

export const openingsMax = 50;
export const historyMs = 24 * 60 * minute;

/** A probe that fails keeps the circuit open: that is not another opening. */
function openingsWith(opening: CircuitOpening, before: CircuitRecord | undefined): readonly CircuitOpening[] {
  const { openings = [], state } = before ?? {};
  if (state === 'open') return openings;
  const recent = openings.filter(({ at }) => opening.at - at < historyMs);
  return [...recent, opening].slice(-openingsMax);
}

const failedTasksMax = 20;
const evidenceMax = 20;

/** The account and model of a request. */
export interface CircuitUser {
  /** Undefined if unknown; then every circuit concerns the request. */
  readonly account?: string | undefined;
  readonly model: string;
}

/** Whether the evidence of an open circuit applies to this user's requests. An operator's circuit applies to all. */
export function isConcerned(
  { by, evidence, models }: CircuitRecord,
  { account, model }: CircuitUser,
): boolean {
  if (by !== undefined) return true;
  if (models?.includes(model) === false) return false;
  const [only, ...others] = accountsOf(evidence);
  return only === undefined || others.length > 0 || account === undefined || account === only;
}

export function accountsOf(evidence: readonly CircuitEvidence[] = []): readonly string[] {
  return [...new Set(evidence.flatMap(({ accounts }) => accounts))];
}

/** Adds a failed probe to the evidence. */
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

/** Whether this task was among those whose failures opened the circuit: its next failure says nothing new. */
export function isSuspect(record: CircuitRecord | undefined, task: string): boolean {
  return record?.failedTasks?.includes(task) === true;
}

/** No request of this task before this time, Unix milliseconds. */
export function closedTo(
  record: CircuitRecord,
  { task, ...user }: CircuitUser & { readonly task: string },
): number {
  if (!isConcerned(record, user)) return 0;
  return isSuspect(record, task) ? Math.max(record.until, record.suspectsUntil ?? 0) : record.until;
}

export interface Failure {
  /** Of which tasks: one that failed a trial, or those that failed in a row. */
  readonly tasks: readonly string[];
  readonly accounts: readonly string[];
  /** The failing models that open a credential's circuit. */
  readonly models?: readonly string[];
  readonly sign: BadSign;
  readonly code: string;
  readonly retryAfterMs?: number | undefined;
}

/** The record after a failure that opens the circuit, or keeps it open after a probe. */
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
 * The record after a trial that says nothing of what the circuit protects, because its task was suspect already, or
 * because the answer is about the model alone: the trial of another task is as near as before.
 */
export function failedAgain(record: CircuitRecord, now: number): CircuitRecord {
  return { ...record, suspectsUntil: now + 2 * record.coolDownMs };
}

/** What an operator decides. Open: nothing is sent before `until`, whatever requests in flight report. */
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
  // The next cool-down begins small: an operator has looked.
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

/**
 * Returns the smallest thing that an answer is evidence against. The key and the balance belong to the credential.
 */
export function scopeOf(sign: BadSign): 'credential' | 'model' {
  return sign === 'account' ? 'credential' : 'model';
}

/** Whether a failure of one model suggests that others fail, too. A missing or forbidden model does not. */
export function spreads(sign: BadSign): boolean {
  return sign !== 'model' && sign !== 'account';
}

/** Remembers the tasks that had opened it: they must not open it again. */
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
