import { pixelCount } from '../base/image-sizes.ts';
import type { QuoteContext } from './quote.ts';

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
  // A size that is in no price line costs as much as the requested one.
  const chosen = known.flatMap(({ size, pixels }) => (pixels > next ? [] : [named.has(size) ? size : asked]));
  return [...new Set(chosen)];
}
