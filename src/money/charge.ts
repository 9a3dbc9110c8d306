import { defined } from '../base/defined.ts';
import { isAboutAsLarge, parseSize, pixelCount } from '../base/image-sizes.ts';
import type { TaskKind } from '../base/task-kind.ts';
import type { ImageGroup, SettleFacts } from './settle-facts.ts';
import { divideHalfUp } from './money.ts';
import type { Micros } from './money.ts';
import { isByFormula, isOpenFact, isPricedBy, noReview, priceAt } from './price.ts';
import type { Price, PriceBasis } from './price.ts';
import { usageFields } from './measures.ts';
import type { Measure } from './measures.ts';
import { readQuantity } from './reckoning.ts';
import { isPriced, leastOf, needsFormula, settle, settleAsLeast, withStep } from './settle.ts';
import type { SettleInput, Settlement } from './settle.ts';

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
 * Charges by the upstream's report if that costs no more than what was requested. If it costs more, a person decides.
 * Words of the report that no line of the price names, such as `1280x720`, are first replaced by the request's words.
 */
function chargeVideo(asked: ChargeInput): TaskCharge {
  const { basis, channel } = asked;
  const facts = asMeasured(asked.facts, basis);
  const input = { ...asked, facts };
  const allowed = allowedAmount(input);
  const reported = settleBy(input, facts);
  const isWithin = isPriced(reported) && reported.amount <= allowed;
  const settlement = isWithin ? reported : settleBy(input, inWordsOfPrice(input));
  // Reported tokens are those of the longer video.
  const isLonger =
    isByFormula(priceAt(basis, channel)) && isTooLong(facts.durationSeconds, basis.most?.seconds);
  const isBeyond = isLonger || settlement.amount > allowed;
  return { settlement, isBeyond: isBeyond && basis.price.reviewAbove !== noReview };
}

/** A length that only we measured charges no more than the request allows: a file may have further frames, or lie. */
function asMeasured(facts: SettleFacts, { most }: PriceBasis): SettleFacts {
  const { durationSeconds, measured } = facts;
  const isOurs = measured?.includes('duration') === true;
  if (!isOurs || durationSeconds === undefined || most?.seconds === undefined) return facts;
  return { ...facts, durationSeconds: Math.min(durationSeconds, most.seconds) };
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
    return amountOf(within);
  }
  // The resolution may also be one that no line names, or may not be reported.
  const possible = [others, ...resolutions.map((one) => ({ ...others, resolution: one }))];
  return possible.map(amountOf).reduce((most, amount) => (amount > most ? amount : most));

  function amountOf(facts: SettleFacts): Micros {
    const settled = settleBy(input, facts);
    return isPriced(settled) ? settled.amount : input.held;
  }
}

/**
 * Returns the report limited to the request: without the facts that the request fixes, at most as long as it allows,
 * and with no more input than it contains.
 */
function videoWithin(facts: SettleFacts, basis: PriceBasis): SettleFacts {
  const { most } = basis;
  const { generateAudio, ...silent } = omitWords(facts, (word) => isFixed(word, basis));
  return {
    ...withinBounds(silent, basis),
    ...(isFixed('generate_audio', basis) ? {} : defined({ generateAudio })),
    ...(isTooLong(facts.durationSeconds, most?.seconds) ? defined({ durationSeconds: most?.seconds }) : {}),
  };
}

/** Limits reported input to what the request and its model allow. */
function withinBounds(facts: SettleFacts, basis: PriceBasis): SettleFacts {
  const { usage, inputSeconds, inputImages } = facts;
  const seconds = boundOf('input_second', basis);
  const images = boundOf('input_image', basis);
  const counts = usageFields.map(([measure, name]) => {
    const [said, most] = [usage?.[name], boundOf(measure, basis)];
    return [name, said === undefined || most === undefined ? said : Math.min(said, most * 1e6)] as const;
  });
  return {
    ...facts,
    ...(usage === undefined ? {} : { usage: { ...usage, ...defined(Object.fromEntries(counts)) } }),
    ...(isTooLong(inputSeconds, seconds) ? defined({ inputSeconds: seconds }) : {}),
    ...(inputImages === undefined || images === undefined
      ? {}
      : { inputImages: Math.min(inputImages, images) }),
  };
}

function boundOf(measure: Measure, { bounds = {} }: PriceBasis): number | undefined {
  const quantity = readQuantity(bounds[measure]?.most ?? '');
  return quantity === undefined ? undefined : Number(quantity.numerator) / Number(quantity.denominator);
}

/** Removes the report's words that no line names, where the request has a word of its own. */
function inWordsOfPrice({ facts, basis, channel }: ChargeInput): SettleFacts {
  const { lines } = priceAt(basis, channel);
  const isKnown = (word: Word): boolean =>
    lines.some(({ when }) => when?.[word]?.includes(facts[word] ?? '') === true);
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
 * Charges each image by its own facts, but no more images than were requested. Size and quality are the caller's
 * words where the request names them. Otherwise they are what the upstream reports or, failing that, what the request
 * alone costs. If no line matches either, or neither is credible, the charge is the least that the request can cost,
 * times the share of images that arrived.
 */
export function chargeImages(
  input: ChargeInput,
  isCredible: (settlement: Settlement) => boolean = () => true,
): Settlement {
  const { basis, held, channel } = input;
  const asked = basis.most?.images;
  const { images, groups = [], ...facts } = withinBounds(input.facts, basis);
  const price = priceAt(basis, channel);
  const isCounted = images !== undefined && Number.isInteger(images) && images >= 0;
  const arrived = isCounted ? Math.min(images, asked ?? images) : asked;
  const counted = { ...facts, ...(isCounted ? defined({ images: arrived }) : {}) };
  const isOwn = (word: Word) => isFixed(word, basis);
  const kept = cheapest(
    groups.map((group) => ownWords(withPricedSize(group, price), isOwn)),
    arrived,
    input,
  );
  const rendered = omitWords({ ...withPricedSize(counted, price), ...kept }, isOwn);
  const tried = [rendered, omitWords(counted, () => true)].map((each) => settleBy(input, each));
  // A size that we measured must not raise the charge above the hold. One that the upstream reports may.
  const isWithin = ({ amount }: Settlement) => facts.measured?.includes('size') !== true || amount <= held;
  const charged = tried.find((each) => isPriced(each) && isWithin(each) && isCredible(each));
  if (charged !== undefined) return charged;
  const byLeast = settleAsLeast(tried[1] ?? settleBy(input, rendered), basis, held);
  if (asked === undefined || arrived === undefined) return byLeast;
  const share = { numerator: BigInt(arrived), denominator: BigInt(asked) };
  const amount = divideHalfUp(leastOf(basis, held) * share.numerator, share.denominator);
  return withStep(byLeast, { kind: 'share', quantity: share, amount });
}

/**
 * Replaces a pixel size that no price line names by a class of about as many pixels: `2752x1536` becomes `2K`. Keeps
 * the pixels if the price is by megapixels.
 */
function withPricedSize<Sized extends { readonly size?: string }>(sized: Sized, price: Price): Sized {
  const pixels = parseSize(sized.size);
  const named = price.lines.flatMap(({ when }) => when?.size ?? []);
  if (pixels === undefined || named.includes(sized.size ?? '') || isPricedBy(price, 'megapixel'))
    return sized;
  const area = pixels.width * pixels.height;
  const classes = named.flatMap((word) => {
    const count = parseSize(word) === undefined ? pixelCount(word) : undefined;
    return count !== undefined && isAboutAsLarge(pixels, count)
      ? [{ word, distance: Math.abs(count - area) }]
      : [];
  });
  const [nearest] = classes.toSorted((a, b) => a.distance - b.distance);
  return nearest === undefined ? sized : { ...sized, size: nearest.word };
}

/** The facts of an image answer in the words of this price. */
export function inPricedSizes(facts: SettleFacts, price: Price): SettleFacts {
  const groups = facts.groups?.map((group) => withPricedSize(group, price));
  return { ...withPricedSize(facts, price), ...defined({ groups }) };
}

function ownWords(
  { images, size, quality }: ImageGroup,
  isOwn: (word: 'size' | 'quality') => boolean,
): ImageGroup {
  return {
    images,
    ...defined({ size: isOwn('size') ? undefined : size, quality: isOwn('quality') ? undefined : quality }),
  };
}

/** If the groups have more images than were requested, keeps the cheapest. */
function cheapest(
  groups: readonly ImageGroup[],
  arrived: number | undefined,
  input: ChargeInput,
): Pick<SettleFacts, 'groups' | 'size' | 'quality'> {
  if (groups.length === 0 || arrived === undefined) return {};
  const priced = groups.map((group) => {
    const { images: _images, ...of } = group;
    return { group, amount: settleBy(input, { images: 1, ...of }).amount };
  });
  const sorted = priced.toSorted((a, b) => (a.amount < b.amount ? -1 : a.amount > b.amount ? 1 : 0));
  let left = arrived;
  const kept: ImageGroup[] = [];
  for (const { group } of sorted) {
    const images = Math.min(left, group.images);
    left -= images;
    if (images > 0) kept.push({ ...group, images });
  }
  return groupedFacts(kept);
}

/**
 * Returns what the images have in common, and the groups where they differ. The order of the groups depends only on
 * their facts.
 */
export function groupedFacts(
  groups: readonly ImageGroup[],
): Pick<SettleFacts, 'groups' | 'size' | 'quality'> {
  const alike = new Map<string, ImageGroup>();
  for (const { images, size, quality } of groups) {
    const key = JSON.stringify([size, quality]);
    const before = alike.get(key)?.images ?? 0;
    alike.set(key, { images: before + images, ...defined({ size, quality }) });
  }
  const sorted = [...alike].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
  const [first] = sorted;
  const common = (name: 'size' | 'quality') =>
    sorted.every((group) => group[name] === first?.[name]) ? first?.[name] : undefined;
  return defined({
    size: common('size'),
    quality: common('quality'),
    groups: sorted.length > 1 ? sorted : undefined,
  });
}

function settleBy({ tokensOf, ...input }: ChargeInput, facts: SettleFacts): Settlement {
  const price = priceAt(input.basis, input.channel);
  const estimatedTokens = needsFormula(price, facts) ? tokensOf?.(facts) : undefined;
  return settle({ ...input, facts, ...defined({ estimatedTokens }) });
}
