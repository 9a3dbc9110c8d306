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

const usualResolutions = [480, 720, 1080, 2160] as const;
const sizePattern = /^([1-9]\d{1,4})x([1-9]\d{1,4})$/i;

/** `"1280x720"` → 720p and 16:9: the nearest of the usual ratios and, by the shorter side, resolutions. */
export function parseSize(size: string): OutputShape | undefined {
  const match = sizePattern.exec(size);
  if (match === null) return undefined;
  const width = Number(match[1]);
  const height = Number(match[2]);
  return {
    ratio: nearestRatio(width / height),
    resolution: `${nearestResolution(Math.min(width, height))}p`,
  };
}

/** Compared on a logarithmic scale, where 16:9 is as far from 1:1 as 9:16 is. */
function nearestRatio(ratio: number): string {
  const distance = (known: number): number => Math.abs(Math.log(ratio / known));
  const [nearest] = usualRatios.toSorted(([, a], [, b]) => distance(a) - distance(b));
  return nearest?.[0] ?? '16:9';
}

function nearestResolution(shorterSide: number): number {
  const distance = (known: number): number => Math.abs(shorterSide - known);
  const [nearest] = usualResolutions.toSorted((a, b) => distance(a) - distance(b));
  return nearest ?? shorterSide;
}
