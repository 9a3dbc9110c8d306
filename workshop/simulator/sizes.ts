export interface Size {
  readonly width: number;
  readonly height: number;
}

export function pairIn(text: string): Size | undefined {
  const match = /^([\d.]+)[x*:]([\d.]+)$/.exec(text);
  return match === null ? undefined : { width: Number(match[1]), height: Number(match[2]) };
}

const lines: Readonly<Record<string, number>> = {
  '2k': 1440,
  '4k': 2160,
  hd: 720,
  fhd: 1080,
  qhd: 1440,
  uhd: 2160,
};

export function linesOf(resolution: string): number {
  const named = lines[resolution.toLowerCase()] ?? Number.parseInt(resolution, 10);
  return Number.isNaN(named) ? 720 : named;
}

export function sizeOf(shortSide: number, ratio: string): Size {
  const { width: wide, height: high } = pairIn(ratio) ?? { width: 16, height: 9 };
  const long = even((shortSide * Math.max(wide, high)) / Math.min(wide, high));
  return wide >= high ? { width: long, height: shortSide } : { width: shortSide, height: long };
}

export function areaOf(side: number, ratio: string, step = 2): Size {
  const { width: wide, height: high } = pairIn(ratio) ?? { width: 1, height: 1 };
  return {
    width: even(side * Math.sqrt(wide / high), step),
    height: even(side * Math.sqrt(high / wide), step),
  };
}

function even(value: number, step = 2): number {
  return Math.round(value / step) * step;
}
