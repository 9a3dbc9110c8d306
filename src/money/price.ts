import { defined } from '../base/defined.ts';
import { divideHalfUp, microsPerUnit, parseMicros } from './money.ts';
import type { Micros } from './money.ts';
import { writeQuantity, writeStep } from './reckoning.ts';
import type { Quantity, Reckoning, Step } from './reckoning.ts';
import { measureMax } from './settle-facts.ts';
import type { SettleFacts, Usage } from './settle-facts.ts';
import type { TaskKind } from '../base/task-kind.ts';

/** docs/contributing.md says what a new one touches. */
export const priceUnits = ['million_tokens', 'second', 'image', 'call'] as const;
export type PriceUnit = (typeof priceUnits)[number];

/** What a rule's `when` may test. Absent: not known, and then a rule that tests it does not hold. */
export interface PriceFacts {
  readonly resolution?: string;
  readonly ratio?: string;
  readonly size?: string;
  readonly quality?: string;
  readonly mode?: string;
  readonly service_tier?: string;
  readonly channel?: string;
  readonly video_input?: boolean;
  readonly audio_input?: boolean;
  readonly image_input?: boolean;
  readonly generate_audio?: boolean;
  readonly draft?: boolean;
  /** Seconds. */
  readonly duration?: number;
}

type TextFact = 'resolution' | 'ratio' | 'size' | 'quality' | 'mode' | 'service_tier' | 'channel';
type FlagFact = 'video_input' | 'audio_input' | 'image_input' | 'generate_audio' | 'draft';

export type PriceCondition = { readonly [F in TextFact]?: readonly string[] | undefined } & {
  readonly [F in FlagFact]?: boolean | undefined;
} & {
  readonly duration?: { readonly min?: number | undefined; readonly max?: number | undefined } | undefined;
};

export const textFacts = [
  'resolution',
  'ratio',
  'size',
  'quality',
  'mode',
  'service_tier',
  'channel',
] as const;
export const flagFacts = ['video_input', 'audio_input', 'image_input', 'generate_audio', 'draft'] as const;

export interface PriceRule {
  readonly when?: PriceCondition | undefined;
  /** Decimal string, currency units for one `unit`. */
  readonly price: string;
}

export interface Price {
  readonly unit: PriceUnit;
  /** Decimal string: no successful task costs less. */
  readonly minimum: string;
  /** The first rule whose `when` holds counts. */
  readonly rules: readonly PriceRule[];
  /** Decimal string: a person decides about a charge above this multiple of the hold. `none`: nobody does. Absent: above 3. */
  readonly reviewAbove?: string;
}

/**
 * The basis of a task's price: frozen when the hold is taken, JSON-safe, kept in the hold's ledger entry and in the
 * workflow's input. Editing prices never touches it.
 */
export interface PriceBasis {
  /** The model's. */
  readonly price: Price;
  /** Of channels that have a price of their own, by their ids: it takes the place of the model's there. */
  readonly channels?: Readonly<Record<string, Price>>;
  readonly facts: PriceFacts;
  /** By the ids of channels: the size that an image is priced as whose own size no rule names. */
  readonly sizes?: Readonly<Record<string, string>>;
  /** Of the videos that the request gives, as measured; absent: not known, or nothing is priced by it. */
  readonly input_seconds?: number;
  /** What the request and its model allow. */
  readonly most?: MostOutput;
  /** Fingerprint of the configuration that the price came from. */
  readonly version: string;
}

/** The most that a request can come to; what is absent is not limited. */
export interface MostOutput {
  readonly seconds?: number;
  readonly images?: number;
  /** Facts that the request names, and the upstream chooses all the same. */
  readonly open?: readonly (keyof PriceFacts)[];
  /** Of a request that names no resolution: those that the upstream may choose. */
  readonly resolutions?: readonly string[];
}

export interface Charge {
  readonly amount: Micros;
  /** Index into `price.rules`. */
  readonly rule: number;
  readonly quantity: Quantity;
  /** How the amount comes about; the last one's is it. */
  readonly steps: readonly Step[];
}

/** What a task is charged by that is rendered at this channel. */
export function priceAt({ price, channels = {} }: PriceBasis, channel: string): Price {
  const own = Object.hasOwn(channels, channel) ? channels[channel] : undefined;
  return own ?? price;
}

/** Index of the first rule that holds; undefined: none does, and the request is refused. */
export function findRule(price: Price, facts: PriceFacts): number | undefined {
  const index = price.rules.findIndex((rule) => holds(rule.when ?? {}, facts));
  return index < 0 ? undefined : index;
}

/** Whether every test of the condition holds. A fact that is not known fails its test; an absent flag is false. */
export function holds(when: PriceCondition, facts: PriceFacts): boolean {
  for (const name of textFacts) {
    const allowed = when[name];
    const fact = facts[name];
    if (allowed !== undefined && (fact === undefined || !allowed.includes(fact))) return false;
  }
  for (const name of flagFacts) {
    // An absent flag is false.
    if (when[name] !== undefined && when[name] !== (facts[name] ?? false)) return false;
  }
  if (when.duration === undefined) return true;
  if (facts.duration === undefined) return false;
  return facts.duration >= (when.duration.min ?? 0) && facts.duration <= (when.duration.max ?? Infinity);
}

/** Price of a quantity: unit price × quantity, half up, at least the minimum. Undefined: no rule holds. */
export function priceOf(price: Price, facts: PriceFacts, quantity: Quantity): Charge | undefined {
  const rule = findRule(price, facts);
  if (rule === undefined) return undefined;
  const unitPrice = parseMicros(price.rules[rule]?.price ?? '') ?? 0n;
  const exact = divideHalfUp(unitPrice * quantity.numerator, quantity.denominator);
  const minimum = parseMicros(price.minimum) ?? 0n;
  const amount = exact > minimum ? exact : minimum;
  const steps: Step[] = [
    { kind: 'price', price: unitPrice, quantity, amount: exact },
    { kind: 'minimum', minimum, amount },
  ];
  return { amount, rule, quantity, steps };
}

/** amount × multiplier (decimal string, such as "1.25"), half up. */
export function multiply(amount: Micros, multiplier: string): Micros {
  return divideHalfUp(amount * (parseMicros(multiplier) ?? microsPerUnit), microsPerUnit);
}

export const oneCall: Quantity = { numerator: 1n, denominator: 1n };

export function tokenQuantity(tokens: bigint): Quantity {
  return { numerator: tokens, denominator: 1_000_000n };
}

/** Upstreams report seconds as JSON numbers: rounded to the millisecond, before any money is involved. */
export function secondQuantity(seconds: number): Quantity {
  return { numerator: BigInt(Math.round(seconds * 1000)), denominator: 1000n };
}

export function imageQuantity(images: number): Quantity {
  return { numerator: BigInt(images), denominator: 1n };
}

/** How much a request will come to, before it is rendered. */
export interface Extent {
  readonly seconds?: number;
  readonly images?: number;
  /** The adapter's formula; undefined: it does not know. */
  readonly tokens: () => bigint | undefined;
}

interface Unit {
  /** Several of it, for people. */
  readonly words: string;
  /** What is sold by it. */
  readonly kinds: readonly TaskKind[];
  /** Of a request that is not rendered yet; undefined: it cannot be known, and the request has no price. */
  readonly expected: (extent: Extent) => Quantity | undefined;
  /** By the upstream's own report; undefined: it reported nothing that can be true. */
  readonly reported: (facts: SettleFacts) => Quantity | undefined;
  /** By the adapter's formula on the response's own output, where nothing was reported. */
  readonly byFormula?: (tokens: bigint) => Quantity;
  /** True: the quantity is the length, so that the hold is charged for one that is not reported. */
  readonly measuresLength?: true;
}

/** Everything that the product knows of a price unit. */
const units: Readonly<Record<PriceUnit, Unit>> = {
  million_tokens: {
    words: 'million tokens',
    kinds: ['video', 'image'],
    expected: ({ tokens }) => optionally(tokens(), tokenQuantity),
    reported: ({ usage }) =>
      optionally(credible(usage?.completionTokens) ?? credible(usage?.totalTokens), (tokens) =>
        tokenQuantity(BigInt(Math.ceil(tokens))),
      ),
    byFormula: tokenQuantity,
  },
  second: {
    words: 'seconds',
    kinds: ['video'],
    expected: ({ seconds }) => optionally(seconds, secondQuantity),
    reported: ({ billedSeconds, durationSeconds }) =>
      optionally(credible(billedSeconds) ?? credible(durationSeconds), secondQuantity),
    measuresLength: true,
  },
  image: {
    words: 'images',
    kinds: ['image'],
    expected: ({ images }) => optionally(images, imageQuantity),
    reported: ({ images }) =>
      Number.isInteger(images) ? optionally(credible(images), imageQuantity) : undefined,
  },
  call: { words: 'calls', kinds: ['video', 'image'], expected: () => oneCall, reported: () => oneCall },
};

function optionally<Value, Result>(
  value: Value | undefined,
  use: (value: Value) => Result,
): Result | undefined {
  return value === undefined ? undefined : use(value);
}

export function unitWords(unit: PriceUnit): string {
  return units[unit].words;
}

/** Whether models of this kind can be sold by the unit. */
export function unitSells(unit: PriceUnit, kind: TaskKind): boolean {
  return units[unit].kinds.includes(kind);
}

/** Whether what is sold is the length of a video: one that is not reported is charged as the hold. */
export function measuresLength(unit: PriceUnit): boolean {
  return units[unit].measuresLength === true;
}

/** Whether what a request comes to is computed by the adapter's formula. */
export function isByFormula(unit: PriceUnit): boolean {
  return units[unit].byFormula !== undefined;
}

export function expectedQuantity(unit: PriceUnit, extent: Extent): Quantity | undefined {
  return units[unit].expected(extent);
}

/** Whether the charge depends on the adapter's formula: the unit has one, and the upstream reported nothing usable. */
export function needsFormula(unit: PriceUnit, facts: SettleFacts): boolean {
  return isByFormula(unit) && units[unit].reported(facts) === undefined;
}

export interface Settlement extends Reckoning {
  readonly amount: Micros;
  /** The upstream did not report what it consumed: computed by the formula, or by the hold. */
  readonly estimated: boolean;
}

export interface SettleInput {
  readonly basis: PriceBasis;
  readonly channel: string;
  readonly facts: SettleFacts;
  /** The hold in micro-units: what is charged when nothing else is known. */
  readonly held: Micros;
  /** Tokens by the adapter's formula on the response's own duration and size. */
  readonly estimatedTokens?: bigint;
}

/** The final charge of a succeeded task: frozen prices, the response's usage, resolution and duration. */
export function settle({ basis, channel, facts, held, estimatedTokens }: SettleInput): Settlement {
  const price = priceAt(basis, channel);
  const seen = reportedFacts(facts);
  const about: Pick<Reckoning, 'unit' | 'rules_of' | 'facts' | 'sources'> = {
    unit: price.unit,
    rules_of: price === basis.price ? 'model' : 'channel',
    facts: { ...basis.facts, ...sizeAt(basis, channel), channel, ...seen },
    sources: Object.fromEntries(Object.keys(seen).map((name) => [name, 'upstream'])),
  };
  const { reported, byFormula } = units[price.unit];
  const measured = reported(facts);
  const formula = measured === undefined ? optionally(estimatedTokens, byFormula ?? noFormula) : undefined;
  const quantity = measured ?? formula;
  const charge = quantity === undefined ? undefined : priceOf(price, about.facts, quantity);
  if (charge === undefined) return settleAsHeld(about, held);
  return {
    ...about,
    amount: charge.amount,
    estimated: formula !== undefined,
    rule: charge.rule,
    quantity: writeQuantity(charge.quantity),
    measured: formula === undefined ? 'upstream' : 'formula',
    ...(formula === undefined ? {} : defined({ input_seconds: basis.input_seconds })),
    steps: charge.steps.map(writeStep),
  };
}

function sizeAt({ sizes = {} }: PriceBasis, channel: string): Pick<PriceFacts, 'size'> {
  return Object.hasOwn(sizes, channel) ? defined({ size: sizes[channel] }) : {};
}

/** The hold is charged, because nothing is known, or credible, that could be priced. */
export function settleAsHeld(
  { unit, rules_of, facts, sources }: Pick<Reckoning, 'unit' | 'rules_of' | 'facts' | 'sources'>,
  held: Micros,
): Settlement {
  const steps = [writeStep({ kind: 'held', amount: held })];
  return { unit, rules_of, facts, sources, amount: held, estimated: true, measured: 'hold', steps };
}

/** The settlement of which no more is charged than this. */
export function atMost(settlement: Settlement, limit: Micros): Settlement {
  return settlement.amount > limit
    ? withStep(settlement, { kind: 'limit', limit, amount: limit })
    : settlement;
}

export function withStep(settlement: Settlement, step: Step): Settlement {
  return { ...settlement, amount: step.amount, steps: [...settlement.steps, writeStep(step)] };
}

/** An upstream's numbers are not to be trusted with more than this multiple of a hold. */
const reviewAboveDefault = '3';
/** Instead of a multiple: nobody is asked. */
export const noReview = 'none';

/** Whether a person is asked about a charge that is not credible. */
export function asksAnybody({ reviewAbove }: Price): boolean {
  return reviewAbove !== noReview;
}

/** Whether the charge is so far above the hold that a person has to accept it. */
export function needsReview(
  { reviewAbove = reviewAboveDefault }: Price,
  { held, amount }: { readonly held: Micros; readonly amount: Micros },
): boolean {
  return reviewAbove !== noReview && amount > multiply(held, reviewAbove);
}

/**
 * Whether an upstream's numbers of one video contradict each other by so much that a person has to say which is true:
 * `completion_tokens: 1` beside `total_tokens: 108900`. What goes into a video is counted beside it, too, but is far less.
 */
export function areContradictory(
  { completionTokens, totalTokens }: Usage,
  { unit, reviewAbove = reviewAboveDefault }: Pick<Price, 'unit' | 'reviewAbove'>,
): boolean {
  const completion = credible(completionTokens);
  const total = credible(totalTokens);
  if (!isByFormula(unit) || reviewAbove === noReview) return false;
  if (completion === undefined || total === undefined) return false;
  const [made, all] = [BigInt(Math.ceil(completion)), BigInt(Math.ceil(total))];
  return made > all || all > multiply(made, reviewAbove);
}

function noFormula(): undefined {
  return undefined;
}

/** What the response says in place of the request. */
function reportedFacts(facts: SettleFacts): PriceFacts {
  const { resolution, ratio, size, quality, durationSeconds: duration, generateAudio } = facts;
  return defined({ resolution, ratio, size, quality, generate_audio: generateAudio, duration });
}

/**
 * An upstream's number that cannot be true counts as not reported: nonsense must not keep a task from being settled.
 * A success of nothing at all is such a number: zero means that nothing was counted.
 */
function credible(value: number | undefined): number | undefined {
  return value !== undefined && value > 0 && value <= measureMax ? value : undefined;
}

/** The request leaves the fact to the upstream. */
export function isOpenFact(asked: string | undefined): boolean {
  return asked === undefined || asked === 'auto' || asked === 'adaptive';
}
