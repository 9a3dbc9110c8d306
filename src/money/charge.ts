import { defined } from '../base/defined.ts';
import { isAboutAsLarge, parseSize, pixelCount } from '../base/image-sizes.ts';
import type { TaskKind } from '../base/task-kind.ts';
import type { ImageGroup, MeasuredFact, SettleFacts } from './settle-facts.ts';
import { divideHalfUp, type Micros } from './money.ts';
import { factsAt, isByFormula, isOpenFact, isPricedBy, noReview, priceAt } from './price.ts';
import type { Price, PriceBasis } from './price.ts';
import { usageFields, type Measure } from './measures.ts';
import { readQuantity } from './reckoning.ts';
import { isPriced, leastOf, needsFormula, settle, settleAsLeast, withStep } from './settle.ts';
import type { SettleInput, Settlement } from './settle.ts';

export interface ChargeInput extends Omit<SettleInput, 'estimatedTokens'> {
  readonly tokensOf?: ((facts: SettleFacts) => bigint | undefined) | undefined;
}

export interface TaskCharge {
  readonly settlement: Settlement;
  /**
   * True if the upstream reported more than the request and its model allow. An operator then decides on the charge.
   */
  readonly isBeyond: boolean;
}

export function chargeTask(kind: TaskKind, input: ChargeInput): TaskCharge {
  return kind === 'image' ? { settlement: chargeImages(input), isBeyond: false } : chargeVideo(input);
}

/**
 * Charges what the upstream reported, if that has a price and the request allows that much. Otherwise, reported values
 * without a price line, such as `1280x720`, are replaced with the requested ones. If the charge is still too high, an
 * operator decides.
 */
function chargeVideo(asked: ChargeInput): TaskCharge {
  const { basis, channel } = asked;
  const facts = asMeasured(asked.facts, basis);
  const input = { ...asked, facts };
  const allowed = allowedAmount(input);
  const reported = settleBy(input, facts);
  const isWithin = isPriced(reported) && reported.amount <= allowed;
  const settlement = isWithin ? reported : settleBy(input, inWordsOfPrice(input));
  // The reported tokens of a video that is too long include its excess length, so comparing amounts alone would not
  // reveal it.
  const isLonger =
    isByFormula(priceAt(basis, channel)) && isTooLong(facts.durationSeconds, basis.most?.seconds);
  const isBeyond = isLonger || settlement.amount > allowed;
  return { settlement, isBeyond: isBeyond && basis.price.reviewAbove !== noReview };
}

/**
 * A file may contain extra frames or state the wrong length, so lengths that only we measured are limited to what the
 * request allows.
 */
function asMeasured(facts: SettleFacts, basis: PriceBasis): SettleFacts {
  const { durationSeconds, inputSeconds, measured = [] } = facts;
  const limited = (name: MeasuredFact, seconds: number | undefined, most = Infinity) =>
    seconds === undefined || !measured.includes(name) ? seconds : Math.min(seconds, most);
  return {
    ...facts,
    ...defined({
      durationSeconds: limited('duration', durationSeconds, basis.most?.seconds),
      inputSeconds: limited('input_seconds', inputSeconds, boundOf('input_second', basis)),
    }),
  };
}

/** In seconds. Whole frames, the soundtrack or rounding can make a video this much longer than requested. */
const lengthSlack = 1;

function isTooLong(reported: number | undefined, most: number | undefined): boolean {
  return reported !== undefined && most !== undefined && reported > most + lengthSlack;
}

type Chargeable = Pick<ChargeInput, 'basis' | 'channel'>;

function isFixed(name: Word | 'generate_audio', { basis, channel }: Chargeable): boolean {
  const asked = factsAt(basis, channel)[name];
  const isNamed = typeof asked === 'string' ? !isOpenFact(asked) : asked !== undefined;
  return isNamed && basis.most?.open?.includes(name) !== true;
}

/**
 * Returns the highest amount that the request allows. If the upstream chose a resolution that is not allowed, this
 * assumes the most expensive allowed one.
 */
function allowedAmount(input: ChargeInput): Micros {
  const within = videoWithin(input);
  const { resolution, ...others } = within;
  const { resolutions } = input.basis.most ?? {};
  if (resolution === undefined || resolutions === undefined || resolutions.includes(resolution)) {
    return amountOf(within);
  }
  // `others` alone covers a resolution without a price line, and a report without a resolution.
  const possible = [others, ...resolutions.map((one) => ({ ...others, resolution: one }))];
  return possible.map(amountOf).reduce((most, amount) => (amount > most ? amount : most));

  function amountOf(facts: SettleFacts): Micros {
    const settled = settleBy(input, facts);
    return isPriced(settled) ? settled.amount : input.held;
  }
}

/** Drops reported values that the request specifies, and limits the length and the input to what was requested. */
function videoWithin(input: ChargeInput): SettleFacts {
  const { facts, basis } = input;
  const { most } = basis;
  const { generateAudio, ...silent } = omitWords(facts, (word) => isFixed(word, input));
  return {
    ...withinBounds(silent, basis),
    ...(isFixed('generate_audio', input) ? {} : defined({ generateAudio })),
    ...(isTooLong(facts.durationSeconds, most?.seconds) ? defined({ durationSeconds: most?.seconds }) : {}),
  };
}

/** Limits the input that the upstream reported to what the request and its model allow. */
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

/** Drops reported values that the request itself specifies, if no price line uses them or only we measured them. */
function inWordsOfPrice(input: ChargeInput): SettleFacts {
  const { facts, basis, channel } = input;
  const { lines } = priceAt(basis, channel);
  const measured: readonly string[] = facts.measured ?? [];
  const isKnown = (word: Word): boolean =>
    lines.some(({ when }) => when?.[word]?.includes(facts[word] ?? '') === true);
  return omitWords(facts, (word) => isFixed(word, input) && (!isKnown(word) || measured.includes(word)));
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
 * Charges each image by its own facts, but no more images than were requested. Size and quality come from the request
 * or, failing that, from the upstream's report. If no price line matches, or no amount is credible, the request's
 * minimum price is charged for the share of images that arrived.
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
  const isOwn = (word: Word) => isFixed(word, input);
  const kept = cheapest(
    groups.map((group) => ownWords(withPricedSize(group, price), isOwn)),
    arrived,
    input,
  );
  const rendered = omitWords({ ...withPricedSize(counted, price), ...kept }, isOwn);
  const tried = [rendered, omitWords(counted, () => true)].map((each) => settleBy(input, each));
  // A size that we measured must not raise the charge above the hold, but a size that the upstream reported may.
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
 * A pixel size without a price line is replaced with the named class of about the same pixel count: `2752x1536` becomes
 * `2K`. If the price counts megapixels, the pixels are kept.
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
