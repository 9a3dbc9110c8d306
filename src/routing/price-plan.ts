import type { ModelConfig } from '../config/gateway-file.ts';
import { defined } from '../base/defined.ts';
import type { Micros } from '../money/money.ts';
import { multiply } from '../money/price.ts';
import type { Bounds, MostOutput, Price, PriceBasis } from '../money/price.ts';
import { measures } from '../money/measures.ts';
import type { Measure } from '../money/measures.ts';
import { isMore, writeQuantity, writeStep } from '../money/reckoning.ts';
import type { Reckoning } from '../money/reckoning.ts';
import { dearest, reckon, requestFacts } from './quote.ts';
import type { GivenCount } from './given-counts.ts';
import type { Quote, QuotedCharge, ReckonedRequest } from './quote.ts';

/** What a request costs, over all channels that may render it. */
export interface PlannedPrice {
  /** The worst case over everything that the request leaves open and every candidate, those of the fallback too. */
  readonly hold: Micros;
  /** How the hold comes about: kept beside the basis in the ledger. */
  readonly reckoning: Reckoning;
  /** What it will cost if the first candidate renders what the request and the model's defaults say. */
  readonly expected: QuotedCharge;
  /** How that would come about. */
  readonly usualReckoning: () => Reckoning;
  /** The lowest and highest charge over all channels. */
  readonly range: { readonly least: Micros; readonly most: Micros };
  /** Of the video that is paid for if nobody reports its length; absent: nothing names it. */
  readonly seconds?: number;
  /** By the ids of the channels that may render it; the hold is for the dearest of them. */
  readonly quotes: ReadonlyMap<string, Quote>;
  readonly basis: PriceBasis;
}

export interface PricedRequest extends ReckonedRequest {
  readonly model: ModelConfig;
  /** Of the first candidate. */
  readonly first: Quote;
}

/** `version`: the configuration's fingerprint. */
export function pricePlan(
  quotes: ReadonlyMap<string, Quote>,
  { model, first, ...reckoned }: PricedRequest,
  version: string,
): PlannedPrice {
  const { multiplier } = model.price.hold;
  const priced = [...quotes.values()].map((quote) => ({ quote, amount: quote.worst.amount }));
  const { quote: most } = dearest(priced, { quote: first, amount: first.worst.amount });
  const hold = multiply(most.worst.amount, multiplier);
  const worst = reckon(most.worst, most.price, reckoned);
  const step = writeStep({ kind: 'multiplier', multiplier, amount: hold });
  return {
    hold,
    reckoning: { ...worst, steps: [...worst.steps, step] },
    range: { least: leastOf(quotes, first), most: most.worst.amount },
    expected: first.usual,
    usualReckoning: () => reckon(first.usual, first.price, reckoned),
    ...defined({ seconds: first.seconds }),
    quotes,
    basis: {
      price: stripHold(model),
      ...defined({ channels: ownPrices(quotes) }),
      facts: requestFacts(reckoned.request),
      ...defined({ sizes: sizesOf(quotes) }),
      ...defined({
        input_seconds: reckoned.inputSeconds,
        most: mostOf(quotes, reckoned),
        bounds: boundsOf(quotes),
      }),
      least: leastOf(quotes, first).toString(),
      version,
    },
  };
}

/** Without what only concerns the hold itself. */
function stripHold({ price: { minimum, lines, hold } }: ModelConfig): Price {
  return { minimum, lines, ...defined({ reviewAbove: hold.review_above }) };
}

/** Returns the lowest possible charge over all channels. */
function leastOf(quotes: ReadonlyMap<string, Quote>, first: Quote): Micros {
  return [...quotes.values()]
    .map(({ least }) => least.amount)
    .reduce((low, amount) => (amount < low ? amount : low), first.least.amount);
}

/** Returns the highest bound of each priced input measure over all channels. Undefined if only output has a price. */
function boundsOf(quotes: ReadonlyMap<string, Quote>): Bounds | undefined {
  const highest: { [M in Measure]?: GivenCount } = {};
  for (const { bounds } of quotes.values()) {
    for (const measure of measures) {
      const [bound, before] = [bounds[measure], highest[measure]];
      if (bound !== undefined && (before === undefined || isMore(bound.most, before.most)))
        highest[measure] = bound;
    }
  }
  const bounds = Object.entries(highest).map(
    ([measure, { most, source }]) => [measure, { most: writeQuantity(most), source }] as const,
  );
  return bounds.length === 0 ? undefined : Object.fromEntries(bounds);
}

/** Over all channels. */
function mostOf(quotes: ReadonlyMap<string, Quote>, { request }: ReckonedRequest): MostOutput | undefined {
  if (request.kind === 'image') return { images: request.n };
  const all = [...quotes.values()];
  const seconds = Math.max(...all.map(({ secondsMax }) => secondsMax ?? Infinity));
  const open = [...new Set(all.flatMap((quote) => quote.open))];
  const isBounded = all.every(({ resolutions }) => resolutions !== undefined);
  const most = {
    ...(Number.isFinite(seconds) ? { seconds } : {}),
    ...(open.length === 0 ? {} : { open }),
    ...(isBounded ? { resolutions: [...new Set(all.flatMap(({ resolutions = [] }) => resolutions))] } : {}),
  };
  return Object.keys(most).length === 0 ? undefined : most;
}

/** Undefined: each channel prices the size that was asked for. */
function sizesOf(quotes: ReadonlyMap<string, Quote>): Record<string, string> | undefined {
  const sizes = [...quotes].flatMap(([channel, { size }]) =>
    size === undefined ? [] : [[channel, size] as const],
  );
  return sizes.length === 0 ? undefined : Object.fromEntries(sizes);
}

/** Undefined: each channel has the model's. */
function ownPrices(quotes: ReadonlyMap<string, Quote>): Record<string, Price> | undefined {
  const own = [...quotes].flatMap(([channel, { price }]) => {
    const { isOwn, minimum, lines } = price;
    return isOwn ? [[channel, { minimum, lines }] as const] : [];
  });
  return own.length === 0 ? undefined : Object.fromEntries(own);
}
