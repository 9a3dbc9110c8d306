import { pixelCount } from '../base/image-sizes.ts';
import type { QuoteContext } from './quote.ts';

/**
 * Used for an image whose own size no price line mentions. Returns every listed size up to the first that is at least
 * as large as the image, so that an image never costs less than a smaller one. If the image is larger than all sizes,
 * returns all of them. Returns an empty list if a price line contains the image's size, if no price line contains any
 * size, or if the size has no pixel count (`auto`, `16:9`).
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
  // A size that no price line mentions costs the same as the requested one.
  const chosen = known.flatMap(({ size, pixels }) => (pixels > next ? [] : [named.has(size) ? size : asked]));
  return [...new Set(chosen)];
}
