import { defined } from '../base/defined.ts';
import { divideHalfUp } from './money.ts';
import {
  isByFormula,
  isOpenFact,
  needsFormula,
  noReview,
  priceAt,
  settle,
  settleAsHeld,
  withStep,
} from './price.ts';
import type { PriceBasis, SettleInput, Settlement } from './price.ts';
import type { Micros } from './money.ts';
import type { SettleFacts } from './settle-facts.ts';
import type { TaskKind } from '../base/task-kind.ts';

/** What a task that succeeded is charged: one place for tasks, for images that a caller waits for, and for replays. */

export interface ChargeInput extends Omit<SettleInput, 'estimatedTokens'> {
  /** The adapter's formula on the facts of an output; absent: it has none. */
  readonly tokensOf?: ((facts: SettleFacts) => bigint | undefined) | undefined;
}

export interface TaskCharge {
  readonly settlement: Settlement;
  /** The upstream reports more than the request and its model allow, and the charge is for that: a person is asked. */
  readonly isBeyond: boolean;
}

export function chargeTask(kind: TaskKind, input: ChargeInput): TaskCharge {
  return kind === 'image' ? { settlement: chargeImages(input), isBeyond: false } : chargeVideo(input);
}

/**
 * By the upstream's report, as long as it costs no more than what was asked for. A report that costs more is a question,
 * except where it only has other words (`1280x720`) for what the request names, which no rule of the price knows.
 */
function chargeVideo(input: ChargeInput): TaskCharge {
  const { facts, basis, channel } = input;
  const allowed = allowedAmount(input);
  const reported = settleBy(input, facts);
  const isWithin = reported.measured !== 'hold' && reported.amount <= allowed;
  const settlement = isWithin ? reported : settleBy(input, inWordsOfPrice(input));
  // Reported tokens are those of the longer video.
  const { unit } = priceAt(basis, channel);
  const isLonger = isByFormula(unit) && isTooLong(facts.durationSeconds, basis.most?.seconds);
  const isBeyond = isLonger || settlement.amount > allowed;
  return { settlement, isBeyond: isBeyond && basis.price.reviewAbove !== noReview };
}

/** Seconds by which a video may be longer than it was asked for: whole frames, its sound, rounding. */
const lengthSlack = 1;

function isTooLong(reported: number | undefined, most: number | undefined): boolean {
  return reported !== undefined && most !== undefined && reported > most + lengthSlack;
}

/** Whether the request decides it. */
function isFixed(name: Word | 'generate_audio', { facts, most }: PriceBasis): boolean {
  const asked = facts[name];
  const isNamed = typeof asked === 'string' ? !isOpenFact(asked) : asked !== undefined;
  return isNamed && most?.open?.includes(name) !== true;
}

/** What the report comes to within the request; in a resolution that the upstream should not choose, the dearest of those that it may. */
function allowedAmount(input: ChargeInput): Micros {
  const within = videoWithin(input.facts, input.basis);
  const { resolution, ...others } = within;
  const { resolutions } = input.basis.most ?? {};
  if (resolution === undefined || resolutions === undefined || resolutions.includes(resolution)) {
    return settleBy(input, within).amount;
  }
  // It may also be one that no rule knows, or that is not reported.
  const possible = [others, ...resolutions.map((one) => ({ ...others, resolution: one }))];
  return possible
    .map((facts) => settleBy(input, facts).amount)
    .reduce((most, amount) => (amount > most ? amount : most));
}

/** The report without what the request names otherwise, and no longer than it allows. */
function videoWithin(facts: SettleFacts, basis: PriceBasis): SettleFacts {
  const { facts: asked, most, input_seconds: given } = basis;
  const seconds = most?.seconds;
  const input = asked.video_input === true ? given : 0;
  const billable = seconds === undefined || input === undefined ? undefined : seconds + input;
  const { generateAudio, ...silent } = omitWords(facts, (word) => isFixed(word, basis));
  return {
    ...silent,
    ...(isFixed('generate_audio', basis) ? {} : defined({ generateAudio })),
    ...(isTooLong(facts.durationSeconds, seconds) ? defined({ durationSeconds: seconds }) : {}),
    ...(isTooLong(facts.billedSeconds, billable) ? defined({ billedSeconds: billable }) : {}),
  };
}

/** The report without words that no rule knows, where the request has its own. */
function inWordsOfPrice({ facts, basis, channel }: ChargeInput): SettleFacts {
  const { rules } = priceAt(basis, channel);
  const isKnown = (word: Word): boolean =>
    rules.some(({ when }) => when?.[word]?.includes(facts[word] ?? '') === true);
  return omitWords(facts, (word) => isFixed(word, basis) && !isKnown(word));
}

const words = ['resolution', 'ratio', 'size', 'quality'] as const;
type Word = (typeof words)[number];

function omitWords(facts: SettleFacts, isOmitted: (word: Word) => boolean): SettleFacts {
  const { resolution, ratio, size, quality, ...others } = facts;
  const said = Object.entries({ resolution, ratio, size, quality });
  const kept = said.filter(([name]) => words.some((word) => word === name && !isOmitted(word)));
  return { ...others, ...defined(Object.fromEntries(kept)) };
}

/**
 * No more images than were asked for, and in the caller's own words for size and quality. What the request left open is
 * what the upstream says it rendered, or else what the request alone costs. Where no rule knows either, or neither is
 * credible, the share of the hold that arrived.
 */
export function chargeImages(
  input: ChargeInput,
  isCredible: (settlement: Settlement) => boolean = () => true,
): Settlement {
  const { basis, held } = input;
  const asked = basis.most?.images;
  const { images, ...facts } = input.facts;
  const isCounted = images !== undefined && Number.isInteger(images) && images >= 0;
  const arrived = isCounted ? Math.min(images, asked ?? images) : asked;
  const counted = { ...facts, ...(isCounted ? defined({ images: arrived }) : {}) };
  const rendered = omitWords(counted, (word) => isFixed(word, basis));
  const tried = [rendered, omitWords(counted, () => true)].map((each) => settleBy(input, each));
  const charged = tried.find((each) => each.measured !== 'hold' && isCredible(each));
  if (charged !== undefined) return charged;
  const byHold = settleAsHeld(tried[1] ?? settleBy(input, rendered), held);
  if (asked === undefined || arrived === undefined) return byHold;
  const share = { numerator: BigInt(arrived), denominator: BigInt(asked) };
  const amount = divideHalfUp(held * share.numerator, share.denominator);
  return withStep(byHold, { kind: 'share', quantity: share, amount });
}

function settleBy({ tokensOf, ...input }: ChargeInput, facts: SettleFacts): Settlement {
  const { unit } = priceAt(input.basis, input.channel);
  const estimatedTokens = needsFormula(unit, facts) ? tokensOf?.(facts) : undefined;
  return settle({ ...input, facts, ...defined({ estimatedTokens }) });
}
