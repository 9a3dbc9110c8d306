import { z } from 'zod';
import { defined } from '../domain/defined.ts';
import { formatMicros, parseMicros } from '../domain/money.ts';
import { needsFormula, priceUnits, settle } from '../domain/price.ts';
import type { PriceBasis } from '../domain/price.ts';
import type { GenerationRequest } from '../domain/request.ts';
import type { SettleFacts } from '../domain/task.ts';
import { taskProviderFor } from '../routing/channels.ts';
import { toFacts } from './recorded-call.ts';
import type { CallOutcome } from './recorded-call.ts';
import type { ReplayProviders } from './replay-record.ts';
import type { FlightRecord } from './flight-record.ts';
import { parseJson } from './timeline.ts';

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

const basisSchema = z.custom<PriceBasis>(
  (value) =>
    z
      .object({
        price: z.object({
          unit: z.enum(priceUnits),
          minimum: z.string(),
          rules: z.array(z.object({ price: z.string(), when: z.record(z.string(), z.unknown()).optional() })),
        }),
        facts: z.record(z.string(), z.unknown()),
        version: z.string(),
      })
      .safeParse(value).success,
);

/** Settles the task again, by the basis that its hold froze and the facts that the adapter reads today. */
export function replayMoney(replayed: ReplayedCalls): Verdict {
  const { record } = replayed;
  const closed = record.ledger.find(({ kind }) => kind === 'settle' || kind === 'release');
  const hold = record.ledger.find(({ kind }) => kind === 'hold');
  if (closed === undefined || hold === undefined)
    return note('The task was not settled: no charge to compare.');
  if (closed.kind === 'release') return compareCharge('0.000000', record.task.charge ?? '0.000000');
  const { data: basis } = basisSchema.safeParse(parseJson(hold.basis ?? ''));
  const held = parseMicros(hold.amount);
  const facts = factsOf(replayed);
  if (basis === undefined || held === undefined || facts === undefined) {
    return note('The charge is not replayed: its price basis or its facts are not in the record.');
  }
  const channel = record.task.channel ?? '';
  const estimatedTokens = needsFormula(basis.price.unit, facts) ? tokensOf(replayed, facts) : undefined;
  const { amount } = settle({ basis, channel, facts, held, ...defined({ estimatedTokens }) });
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

function tokensOf({ record, request, providers }: ReplayedCalls, facts: SettleFacts): bigint | undefined {
  const call = record.calls.findLast(({ channel }) => channel === record.task.channel);
  const { resolution, ratio, durationSeconds } = facts;
  if (call === undefined || request === undefined) return undefined;
  if (resolution === undefined || ratio === undefined || durationSeconds === undefined) return undefined;
  const provider = Object.hasOwn(providers, call.provider) ? providers[call.provider] : undefined;
  const adapter = provider === undefined ? undefined : taskProviderFor(provider, record.task.kind);
  const model = record.calls.find(
    ({ channel, model: name }) => channel === call.channel && name !== '',
  )?.model;
  return adapter?.estimateTokens?.(request, { resolution, ratio, durationSeconds }, model);
}
