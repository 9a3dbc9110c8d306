import type { BadSign, CircuitEvidence, CircuitRecord } from './circuit-rules.ts';
import { accountsOf } from './circuit-rules.ts';

/** All sentences about the health of a channel. Every page and tool shows them unchanged. */

/** The upstream's code follows each of these in parentheses. */
const causes: Readonly<Record<BadSign, string>> = {
  failure: 'requests fail',
  throttled: 'the upstream limits the rate',
  account: 'the upstream refuses the key or the balance',
  model: 'the upstream refuses the model',
  unreachable: 'the host is not reached',
};

/** Callers read this too, so it names no operator. */
export function causeOf({ sign, code, by }: Pick<CircuitRecord, 'sign' | 'code' | 'by'>): string {
  return by === undefined ? `${causes[sign]} (${code})` : 'an operator stopped submissions';
}

export const channelWords = {
  serving: 'The channel serves.',
  configuredOff: 'The channel is switched off in the configuration.',
  unserved: 'No running worker serves the channel.',
  noWorker: 'No worker runs.',
  switchedOff: (by: string, reason: string) => `${by} switched the channel off: ${reason}`,
} as const;

/**
 * `probing`: the cool-down is over, but no request has succeeded yet. `flapping`: the channel serves, but one of its
 * circuits keeps opening. `partly_ill`: some of its models or credentials, or some processes, cannot use it.
 */
export const healthStates = ['serving', 'flapping', 'partly_ill', 'probing', 'ill', 'paused'] as const;
export type HealthState = (typeof healthStates)[number];

/** How many processes cannot reach the upstream, and out of how many. */
export interface Processes {
  readonly ill: number;
  readonly of: number;
}

export interface PartWords extends Pick<CircuitRecord, 'sign' | 'code' | 'by' | 'reason' | 'models'> {
  readonly state: HealthState;
  readonly credential: string;
  readonly model?: string;
  readonly evidence: readonly CircuitEvidence[];
  readonly openedInHour: number;
  readonly processes?: Processes;
}

export function wordsOfPart(part: PartWords): string {
  const { state, by, reason, openedInHour, processes } = part;
  const target = targetOf(part);
  const here = processes === undefined ? '' : ` for ${processes.ill} of ${count(processes.of, 'process')}`;
  switch (state) {
    case 'serving':
      return `${target} serves.`;
    case 'flapping':
      return `${target} serves again, but its circuit opened ${openedInHour} times in the last hour: ${causeOf(part)}.`;
    case 'paused':
      return `${by ?? 'An operator'} stopped submissions to ${lower(target)}: ${reason ?? 'no reason was given'}`;
    case 'probing':
      return `${target} is not well yet: ${causeOf(part)}${here}${seenWith(part)}. The next task tries it; it is ill until one succeeds.`;
    case 'ill':
    case 'partly_ill':
      return `${target} is ill: ${causeOf(part)}${here}${seenWith(part)}. ${whoWaits(part)}`;
    default:
      return state satisfies never;
  }
}

function targetOf({ credential, model }: PartWords): string {
  return model === undefined ? `Credential ${credential}` : `Model ${model} of credential ${credential}`;
}

function lower(target: string): string {
  return target.charAt(0).toLowerCase() + target.slice(1);
}

function seenWith({ evidence }: PartWords): string {
  const accounts = accountsOf(evidence).length;
  return accounts === 0 ? '' : `, seen with ${count(accounts, 'account')}`;
}

function whoWaits({ evidence, models }: PartWords): string {
  const others = [
    ...(models === undefined ? [] : [`models other than ${models.join(', ')}`]),
    ...(accountsOf(evidence).length === 1 ? ['other accounts'] : []),
  ];
  const trials =
    others.length === 0 ? '' : ` Requests of ${others.join(' and of ')} are tried, one at a time.`;
  return `Nothing is submitted before its cool-down is over.${trials}`;
}

function count(number: number, word: 'account' | 'process'): string {
  const plural = word === 'process' ? 'processes' : `${word}s`;
  return `${number} ${number === 1 ? word : plural}`;
}
