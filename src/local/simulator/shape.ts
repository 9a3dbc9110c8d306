/** Pixels of what a vendor names by a size and a ratio (`16:9`); sides are even. */

export interface Shape {
  readonly width: number;
  readonly height: number;
}

const even = (value: number): number => Math.round(value / 2) * 2;

function sidesOf(ratio: string): readonly [wide: number, high: number] {
  const [wide = 1, high = 1] = /^\d/.test(ratio) ? ratio.split(':').map(Number) : [];
  return [wide, high];
}

/** The shorter side has this many pixels. */
export function shapeOfSide(side: number, ratio: string): Shape {
  const [wide, high] = sidesOf(ratio);
  const long = even((side * Math.max(wide, high)) / Math.min(wide, high));
  return wide >= high ? { width: long, height: side } : { width: side, height: long };
}

/** As large as a square of this side. */
export function shapeOfSquare(side: number, ratio: string): Shape {
  const [wide, high] = sidesOf(ratio);
  const factor = Math.sqrt(wide / high);
  return { width: even(side * factor), height: even(side / factor) };
}
