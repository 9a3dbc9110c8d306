import type { ModelConfig } from '../config/gateway-file.ts';
import { defined } from '../base/defined.ts';
import type { Micros } from '../money/money.ts';
import { multiply } from '../money/price.ts';
import type { Bounds, MostOutput, Price, PriceBasis, PriceFacts } from '../money/price.ts';
import { measures, type Measure } from '../money/measures.ts';
import { isMore, writeQuantity, writeStep, type Reckoning } from '../money/reckoning.ts';
import { dearest, reckon, type Quote, type QuotedCharge, type ReckonedRequest } from './quote.ts';
import type { GivenCount } from './given-counts.ts';

export interface PlannedPrice {
  readonly hold: Micros;
  readonly reckoning: Reckoning;
  /**
   * The cost if the first candidate renders the request as specified, with the model's defaults for anything left open.
   */
  readonly expected: QuotedCharge;
  readonly usualReckoning: () => Reckoning;
  readonly range: { readonly least: Micros; readonly most: Micros };
  readonly seconds?: number;
  /** By channel id. The most expensive quote determines the hold. */
  readonly quotes: ReadonlyMap<string, Quote>;
  readonly basis: PriceBasis;
}

export interface PricedRequest extends ReckonedRequest {
  readonly model: ModelConfig;
  readonly first: Quote;
}

export function pricePlan(
  quotes: ReadonlyMap<string, Quote>,
  { model, first, ...reckoned }: PricedRequest,
  version: string,
): PlannedPrice {
  const { multiplier } = model.price.hold;
  const priced = [...quotes.values()].map((quote) => ({ quote, amount: quote.worst.amount }));
  const { quote: most } = dearest(priced, { quote: first, amount: first.worst.amount });
  const hold = multiply(most.worst.amount, multiplier);
  const worst = reckon(most.worst, most, reckoned);
  const facts = askedFacts(quotes);
  const step = writeStep({ kind: 'multiplier', multiplier, amount: hold });
  return {
    hold,
    reckoning: { ...worst, steps: [...worst.steps, step] },
    range: { least: leastOf(quotes, first), most: most.worst.amount },
    expected: first.usual,
    usualReckoning: () => reckon(first.usual, first, reckoned),
    ...defined({ seconds: first.seconds }),
    quotes,
    basis: {
      price: stripHold(model),
      ...defined({ channels: ownPrices(quotes), factor: first.price.factor }),
      facts,
      ...defined({ unsent: unsentOf(quotes, facts), sizes: sizesOf(quotes) }),
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

function stripHold({ price: { minimum, lines, hold } }: ModelConfig): Price {
  return { minimum, lines, ...defined({ reviewAbove: hold.review_above }) };
}

function leastOf(quotes: ReadonlyMap<string, Quote>, first: Quote): Micros {
  return [...quotes.values()]
    .map(({ least }) => least.amount)
    .reduce((low, amount) => (amount < low ? amount : low), first.least.amount);
}

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

function askedFacts(quotes: ReadonlyMap<string, Quote>): PriceFacts {
  return [...quotes.values()].reduce((all, { fixed }) => ({ ...all, ...fixed }), {});
}

function unsentOf(quotes: ReadonlyMap<string, Quote>, asked: PriceFacts): PriceBasis['unsent'] {
  const unsent = [...quotes].flatMap(([channel, { fixed }]) => {
    const names = Object.keys(asked).filter((name) => !Object.hasOwn(fixed, name));
    return names.length === 0 ? [] : [[channel, names] as const];
  });
  return unsent.length === 0 ? undefined : Object.fromEntries(unsent);
}

function mostOf(quotes: ReadonlyMap<string, Quote>, { request }: ReckonedRequest): MostOutput | undefined {
  if (request.kind === 'image') return { images: request.n };
  const all = [...quotes.values()];
  const seconds = Math.max(...all.map(({ secondsMax }) => secondsMax ?? Infinity));
  const open = [...new Set(all.flatMap((quote) => quote.open))];
  const free = all.filter(({ fixed }) => fixed.resolution === undefined);
  const isBounded = free.length > 0 && free.every(({ resolutions }) => resolutions !== undefined);
  const most = {
    ...(Number.isFinite(seconds) ? { seconds } : {}),
    ...(open.length === 0 ? {} : { open }),
    ...(isBounded ? { resolutions: [...new Set(free.flatMap(({ resolutions = [] }) => resolutions))] } : {}),
  };
  return Object.keys(most).length === 0 ? undefined : most;
}

function sizesOf(quotes: ReadonlyMap<string, Quote>): Record<string, string> | undefined {
  const sizes = [...quotes].flatMap(([channel, { size }]) =>
    size === undefined ? [] : [[channel, size] as const],
  );
  return sizes.length === 0 ? undefined : Object.fromEntries(sizes);
}

function ownPrices(quotes: ReadonlyMap<string, Quote>): Record<string, Price> | undefined {
  const own = [...quotes].flatMap(([channel, { price }]) => {
    const { isOwn, minimum, lines } = price;
    return isOwn ? [[channel, { minimum, lines }] as const] : [];
  });
  return own.length === 0 ? undefined : Object.fromEntries(own);
}
