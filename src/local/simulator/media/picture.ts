/** A colour in limited-range BT.709, as the video carries it. */
export interface Yuv {
  readonly y: number;
  readonly cb: number;
  readonly cr: number;
}

/**
 * The one scene that every medium here shows: a tinted gradient of vertical bars and a white bar that grows from
 * the left, so that one sees that a video plays and how far it is. It is flat inside each 16x16 block: that keeps
 * a frame at under a byte per block in H.264 and JPEG alike.
 */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly columns: number;
  readonly rows: number;
  readonly barTop: number;
  readonly barBottom: number;
  /** Colour of a block; `filled` is the number of bar columns that are lit. */
  colour(column: number, row: number, filled: number): Yuv;
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

export function createPicture(width: number, height: number, tint: number): Picture {
  const columns = Math.ceil(width / blockSize);
  const rows = Math.ceil(height / blockSize);
  const barRows = Math.max(1, Math.min(barRowsMax, Math.floor(rows / 12)));
  // Row 0 must stay free: the bar's blocks are predicted from the block above them.
  const barTop = Math.max(1, Math.min(rows - barRows, Math.floor(rows * 0.8)));
  const [cb, cr] = tints[tint % tints.length] ?? [128, 128];
  const gradient = Array.from({ length: columns }, (_, column) => ({
    y: 50 + Math.round((120 * column) / Math.max(1, columns - 1)),
    cb,
    cr,
  }));
  return {
    width,
    height,
    columns,
    rows,
    barTop,
    barBottom: Math.min(rows, barTop + barRows),
    colour(column, row, filled) {
      if (row >= barTop && row < barTop + barRows && column < filled) return white;
      return gradient[column] ?? white;
    },
  };
}

/** Bar columns lit in frame `frame` of `frames`: none in the first, all in the last. */
export function filledColumns(picture: Picture, frame: number, frames: number): number {
  return frames <= 1 ? 0 : Math.round((frame * picture.columns) / (frames - 1));
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
