import { accountsOf, type BadSign, type CircuitEvidence, type CircuitRecord } from './circuit-rules.ts';

/** Every page and tool shows these sentences about channel health unchanged. */

const causes: Readonly<Record<BadSign, string>> = {
  failure: 'requests fail',
  throttled: 'the upstream limits the request rate',
  account: 'the upstream rejects the key, or the balance is too low',
  model: 'the upstream rejects the model',
  unreachable: 'the host cannot be reached',
};

/** Callers also read this text, so it does not name the operator. */
export function causeOf({ sign, code, by }: Pick<CircuitRecord, 'sign' | 'code' | 'by'>): string {
  return by === undefined ? `${causes[sign]} (${code})` : 'an operator stopped submissions';
}

export const channelWords = {
  serving: 'The channel is serving requests.',
  configuredOff: 'The channel is switched off in the configuration.',
  unserved: 'No running worker serves the channel.',
  noWorker: 'No worker is running.',
  switchedOff: (by: string, reason: string) => `${by} switched the channel off: ${reason}`,
} as const;

/**
 * - `probing`: the cool-down is over, but no request has succeeded yet.
 * - `flapping`: the channel serves requests, but one of its circuits keeps opening.
 * - `partly_ill`: only some of the channel's models, credentials or processes are affected.
 */
export const healthStates = ['serving', 'flapping', 'partly_ill', 'probing', 'ill', 'paused'] as const;
export type HealthState = (typeof healthStates)[number];

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
      return `${target} works again, but its circuit opened ${openedInHour} times in the last hour: ${causeOf(part)}.`;
    case 'paused':
      return `${by ?? 'An operator'} stopped submissions to ${lower(target)}: ${reason ?? 'no reason was given'}`;
    case 'probing':
      return `${target} has not recovered yet: ${causeOf(part)}${here}${seenWith(part)}. The next task probes it; it counts as ill until one succeeds.`;
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
  const isOneAccounts = accountsOf(evidence).length === 1;
  return [
    'Nothing is submitted until its cool-down is over.',
    ...(models === undefined
      ? []
      : [`Requests for models other than ${models.join(', ')} are tried, one at a time.`]),
    ...(isOneAccounts ? ['Requests from other accounts are still sent.'] : []),
  ].join(' ');
}

function count(number: number, word: 'account' | 'process'): string {
  const plural = word === 'process' ? 'processes' : `${word}s`;
  return `${number} ${number === 1 ? word : plural}`;
}
