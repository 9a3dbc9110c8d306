import { pixelCount } from '../base/image-sizes.ts';
import type { QuoteContext } from './quote.ts';

/**
 * Sizes that an image may be priced as whose own size no line names; none: only as its own. They are all that the model
 * lists or a line names, from the smallest to the next that is not smaller, or to the largest: a caller gets no image for
 * less than a smaller one costs, however its size is spelt. What has no number of pixels (`auto`, `16:9`) has no part in it.
 */
export function pricedSizes(
  asked: string,
  { model, price, facts: { sizes } }: Pick<QuoteContext, 'model' | 'price' | 'facts'>,
): string[] {
  const named = new Set(price.lines.flatMap(({ when }) => when?.size ?? []));
  const count = pixelCount(asked, sizes);
  if (count === undefined || named.size === 0 || named.has(asked)) return [];
  const known = [...named, ...model.sizes].flatMap((size) => {
    const pixels = pixelCount(size, sizes);
    return pixels === undefined ? [] : [{ size, pixels }];
  });
  const next = Math.min(...known.flatMap(({ pixels }) => (pixels < count ? [] : [pixels])));
  // Those that no line names cost as much as the asked one.
  const chosen = known.flatMap(({ size, pixels }) => (pixels > next ? [] : [named.has(size) ? size : asked]));
  return [...new Set(chosen)];
}
