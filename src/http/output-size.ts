/** What `size` means in the terms that prices and upstreams know. */
export interface OutputShape {
  readonly resolution: string;
  readonly ratio: string;
}

const usualRatios = [
  ['21:9', 21 / 9],
  ['16:9', 16 / 9],
  ['4:3', 4 / 3],
  ['1:1', 1],
  ['3:4', 3 / 4],
  ['9:16', 9 / 16],
] as const;

const usualResolutions = [
  ['480p', 480],
  ['720p', 720],
  ['1080p', 1080],
  ['4k', 2160],
] as const;

export const usualRatioNames = usualRatios.map(([name]) => name);
export const usualResolutionNames = usualResolutions.map(([name]) => name);

const sizePattern = /^([1-9]\d{1,4})x([1-9]\d{1,4})$/i;

/** Vendors round both sides to multiples of up to 32 pixels: 832x480 is 16:9, and 1584x672 is 21:9. */
const ratioTolerance = 0.03;

/** Squares have more lines than their name says: a vendor's 1:1 of 4k is 3840x3840. */
const sideTolerance = 0.6;

/**
 * `"1280x720"` → 720p and 16:9: by the shorter side, the nearest of the usual resolutions. Undefined: it is not a usual
 * size.
 */
export function parseSize(size: string): OutputShape | undefined {
  const match = sizePattern.exec(size);
  if (match === null) return undefined;
  const width = Number(match[1]);
  const height = Number(match[2]);
  const ratio = usualRatios.find(([, known]) => distance(width / height, known) <= ratioTolerance);
  const side = Math.min(width, height);
  const [nearest] = usualResolutions.toSorted(
    ([, one], [, other]) => Math.abs(side - one) - Math.abs(side - other),
  );
  if (ratio === undefined || nearest === undefined || distance(side, nearest[1]) > sideTolerance)
    return undefined;
  return { ratio: ratio[0], resolution: nearest[0] };
}

/** 720p and 16:9 → `"1280x720"`: the shorter side has the lines of the resolution. Undefined: a part is not usual. */
export function sizeOf({ resolution, ratio }: Partial<OutputShape>): string | undefined {
  const [, side] = usualResolutions.find(([name]) => name === resolution?.toLowerCase()) ?? [];
  const [, shape] = usualRatios.find(([name]) => name === ratio) ?? [];
  if (side === undefined || shape === undefined) return undefined;
  const even = (length: number) => 2 * Math.round(length / 2);
  return shape >= 1 ? `${even(side * shape)}x${side}` : `${side}x${even(side / shape)}`;
}

/** On a logarithmic scale, where 16:9 is as far from 1:1 as 9:16 is. */
function distance(value: number, known: number): number {
  return Math.abs(Math.log(value / known));
}
