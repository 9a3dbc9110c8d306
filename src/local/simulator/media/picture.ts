/** A colour in limited-range BT.709, as the sample clips carry it. */
export interface Yuv {
  readonly y: number;
  readonly cb: number;
  readonly cr: number;
}

/**
 * The one scene that every picture here shows: a tinted gradient of vertical bars, with a white bar across it where
 * it is marked. It is flat inside each 16x16 block, which keeps the files small.
 */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly columns: number;
  readonly rows: number;
  /** The first row of the bar. */
  readonly barTop: number;
  /** Colour of a block. */
  colour(column: number, row: number): Yuv;
}

export const blockSize = 16;
const barRowsMax = 4;
const white: Yuv = { y: 220, cb: 128, cr: 128 };
const tints: readonly (readonly [cb: number, cr: number])[] = [
  [170, 100],
  [100, 100],
  [90, 160],
  [150, 160],
  [180, 120],
  [115, 185],
];
export const tintCount = tints.length;

export function createPicture(look: {
  readonly width: number;
  readonly height: number;
  readonly tint: number;
  readonly marked: boolean;
}): Picture {
  const { width, height, tint, marked } = look;
  const columns = Math.ceil(width / blockSize);
  const rows = Math.ceil(height / blockSize);
  const barRows = Math.max(1, Math.min(barRowsMax, Math.floor(rows / 12)));
  const barTop = Math.min(rows - barRows, Math.floor(rows * 0.8));
  const [cb, cr] = tints[tint % tints.length] ?? [128, 128];
  return {
    width,
    height,
    columns,
    rows,
    barTop,
    colour(column, row) {
      if (marked && row >= barTop && row < barTop + barRows) return white;
      return { y: 50 + Math.round((120 * column) / Math.max(1, columns - 1)), cb, cr };
    },
  };
}

/** BT.709 limited range → 8-bit RGB. */
export function toRgb({ y, cb, cr }: Yuv): readonly [red: number, green: number, blue: number] {
  const luma = 1.164384 * (y - 16);
  const clamp = (value: number): number => Math.max(0, Math.min(255, Math.round(value)));
  return [
    clamp(luma + 1.792741 * (cr - 128)),
    clamp(luma - 0.213249 * (cb - 128) - 0.532909 * (cr - 128)),
    clamp(luma + 2.112402 * (cb - 128)),
  ];
}
