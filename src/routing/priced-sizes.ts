import { pixelCount } from '../base/image-sizes.ts';
import type { QuoteContext } from './quote.ts';

/**
 * Returns the sizes to price an image at when no line names its own size. The candidates are all sizes that the model
 * lists or a line names, from the smallest up to the next one that is not smaller than the image; if all are smaller,
 * every candidate. So an image never costs less than a smaller one, however its size is spelt. Returns an empty list
 * if a line names the image's size, if no line names any size, or if the size has no number of pixels (`auto`, `16:9`).
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
  // Sizes that no line names cost the same as the requested one.
  const chosen = known.flatMap(({ size, pixels }) => (pixels > next ? [] : [named.has(size) ? size : asked]));
  return [...new Set(chosen)];
}
