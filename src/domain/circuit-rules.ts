import type { UpstreamOutcome } from './upstream-outcome.ts';

/**
 * What an answer says about the health of a credential. `alive`: the upstream read the request and judged it (a
 * rejection and a moderation are that). `account`: the key, the balance or a quota; `model`: only this model is
 * missing there; both last until an operator acts.
 */
export type HealthSign = 'alive' | 'failure' | 'throttled' | 'account' | 'model';

export interface JudgedError {
  readonly outcome: UpstreamOutcome;
  readonly status: number | undefined;
}

const statusNotFound = 404;

export function signOf({ outcome, status }: JudgedError): HealthSign {
  switch (outcome) {
    case 'rejected':
      return 'alive';
    case 'throttled':
      return 'throttled';
    case 'unavailable':
      return status === statusNotFound ? 'model' : 'account';
    case 'not_sent':
    case 'ambiguous':
      return 'failure';
    default:
      return outcome satisfies never;
  }
}

type BadSign = Exclude<HealthSign, 'alive'>;

interface CircuitRule {
  /** This many consecutive failures open the circuit. */
  readonly consecutiveFailures: number;
  readonly coolDownMs: number;
  /** The cool-down doubles up to this, as long as probes fail. */
  readonly coolDownMaxMs: number;
}

const second = 1000;
const minute = 60 * second;

/** An account without balance stays without for long; an upstream at its capacity has room again soon. */
export const circuitRules: Record<BadSign, CircuitRule> = {
  failure: { consecutiveFailures: 5, coolDownMs: 15 * second, coolDownMaxMs: 10 * minute },
  throttled: { consecutiveFailures: 10, coolDownMs: 10 * second, coolDownMaxMs: minute },
  account: { consecutiveFailures: 2, coolDownMs: 5 * minute, coolDownMaxMs: 60 * minute },
  model: { consecutiveFailures: 2, coolDownMs: 5 * minute, coolDownMaxMs: 60 * minute },
};

/** A circuit that opens again this soon after it closed continues with the cool-down that it had reached. */
const relapseMs = 5 * minute;

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
}

export interface Failure {
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
  return {
    state: 'open',
    sign: failure.sign,
    code: failure.code,
    coolDownMs,
    until: now + coolDownMs,
    at: now,
  };
}

export function closedAfter(record: CircuitRecord, now: number): CircuitRecord {
  return { ...record, state: 'closed', until: 0, at: now };
}
