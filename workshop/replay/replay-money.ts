import { chargeTask } from '../../src/money/charge.ts';
import type { ChargeInput } from '../../src/money/charge.ts';
import { defined } from '../../src/base/defined.ts';
import { heldBasis } from '../../src/money/ledger-basis.ts';
import { formatMicros, parseMicros } from '../../src/money/money.ts';
import type { PriceBasis } from '../../src/money/price.ts';
import type { GenerationRequest } from '../../src/models/request.ts';
import type { SettleFacts } from '../../src/money/settle-facts.ts';
import { taskProviderFor } from '../../src/routing/channels.ts';
import { toFacts } from '../../src/flight/recorded-call.ts';
import type { CallOutcome } from '../../src/flight/recorded-call.ts';
import type { ReplayProviders } from './replay-record.ts';
import type { FlightRecord } from '../../src/flight/flight-record.ts';

/** What the calls of a record come to with today's code. */
export interface ReplayedCalls {
  readonly record: FlightRecord;
  /** Of `record.calls`, in order. */
  readonly outcomes: readonly CallOutcome[];
  readonly request: GenerationRequest | undefined;
  readonly providers: ReplayProviders;
}

export interface Verdict {
  readonly differences: readonly string[];
  readonly notes: readonly string[];
}

/** Settles the task again, by the basis that its hold froze and the facts that the adapter reads today. */
export function replayMoney(replayed: ReplayedCalls): Verdict {
  const { record } = replayed;
  const closed = record.ledger.find(({ kind }) => kind === 'settle' || kind === 'release');
  const hold = record.ledger.find(({ kind }) => kind === 'hold');
  if (closed === undefined || hold === undefined)
    return note('The task was not settled: no charge to compare.');
  if (closed.kind === 'release') return compareCharge('0.000000', record.task.charge ?? '0.000000');
  const basis = heldBasis(hold.basis ?? undefined);
  const held = parseMicros(hold.amount);
  const facts = factsOf(replayed);
  if (basis === undefined || held === undefined || facts === undefined) {
    return note('The charge is not replayed: its price basis or its facts are not in the record.');
  }
  const channel = record.task.channel ?? '';
  const input = { basis, channel, facts, held, tokensOf: formulaOf(replayed, basis) };
  const { settlement } = chargeTask(record.task.kind, input);
  const { amount } = settlement;
  const wasReplaced = record.attempts.some(({ state }) => state === 'failed' || state === 'rejected');
  const isCapped = record.plan?.fallback !== undefined && wasReplaced && amount > held;
  const charged = (parseMicros(closed.amount) ?? 0n) + (parseMicros(closed.excess ?? '0') ?? 0n);
  return compareCharge(formatMicros(charged), formatMicros(isCapped ? held : amount));
}

function compareCharge(recorded: string, today: string): Verdict {
  if (recorded === today) return { differences: [], notes: [] };
  return { differences: [`The charge was ${recorded} and is ${today} today.`], notes: [] };
}

function note(text: string): Verdict {
  return { differences: [], notes: [text] };
}

/** By the last success that the upstream reported; what an operator completed by hand has facts of its own. */
function factsOf({ record, outcomes }: ReplayedCalls): SettleFacts | undefined {
  const { outcome } = record.task;
  const isByHand = record.actions.some(({ action }) => action === 'complete');
  const last = isByHand ? undefined : outcomes.findLast(({ kind }) => kind === 'succeeded');
  if (last?.kind === 'succeeded') return toFacts(last.facts);
  return outcome?.kind === 'succeeded' ? toFacts(outcome.facts) : undefined;
}

function formulaOf(
  { record, request, providers }: ReplayedCalls,
  { facts, input_seconds: inputSeconds }: PriceBasis,
): ChargeInput['tokensOf'] {
  const call = record.calls.findLast(({ channel }) => channel === record.task.channel);
  if (call === undefined || request === undefined) return undefined;
  const provider = Object.hasOwn(providers, call.provider) ? providers[call.provider] : undefined;
  const adapter = provider === undefined ? undefined : taskProviderFor(provider, record.task.kind);
  const model = record.calls.find(
    ({ channel, model: name }) => channel === call.channel && name !== '',
  )?.model;
  const given = defined({ inputSeconds });
  return ({ resolution = facts.resolution, ratio = facts.ratio, durationSeconds }) =>
    resolution === undefined || ratio === undefined || durationSeconds === undefined
      ? undefined
      : adapter?.estimateTokens?.(request, { resolution, ratio, durationSeconds, ...given }, model);
}
