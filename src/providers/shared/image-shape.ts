/** For upstreams that render an image in a ratio, or in a class of sizes, and are asked for pixels. */

export interface Pixels {
  readonly width: number;
  readonly height: number;
}

/** The nearest of `ratios` (`16:9`); undefined: none of them is as near as the tolerance, a share of the ratio. */
export function ratioOfPixels(
  { width, height }: Pixels,
  ratios: readonly string[],
  tolerance = 0.02,
): string | undefined {
  const distance = (ratio: string): number => {
    const [wide = 1, high = 1] = ratio.split(':').map(Number);
    return Math.abs((width * high) / (height * wide) - 1);
  };
  const near = ratios.filter((ratio) => distance(ratio) <= tolerance);
  return near.toSorted((a, b) => distance(a) - distance(b))[0];
}

const pixelsDeviationMax = 0.35;

/** Whether an image of these pixels is about as large as one of `pixels`. */
export function isAboutAsLarge({ width, height }: Pixels, pixels: number): boolean {
  return Math.abs((width * height) / pixels - 1) <= pixelsDeviationMax;
}
