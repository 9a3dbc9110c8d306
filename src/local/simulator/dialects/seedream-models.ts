import { invalid } from './ark-error.ts';

export interface SeedreamModel {
  /** Of the 3.0 family: seed and guidance, no groups, no stream. */
  readonly third: boolean;
  /** 5.0 and later: output_format and tools. */
  readonly outputFormat: boolean;
  /** 5.0 pro, Flash and 5.5: groups and streams are refused, whatever their value. */
  readonly single: boolean;
  readonly background: boolean;
  /** Sides are multiples of this. */
  readonly step: number;
  readonly levels: readonly string[];
  readonly referencesMin: number;
  readonly referencesMax: number;
  /** Pixels; undefined where only `adaptive` is allowed. */
  readonly pixels: readonly [min: number, max: number] | undefined;
  readonly defaultSize: PixelSize;
}

export interface PixelSize {
  readonly width: number;
  readonly height: number;
}

const aspectMax = 16;
const wholeSizes = /^([1-4]|1\.5)K$/;

const fourth: SeedreamModel = {
  third: false,
  outputFormat: false,
  single: false,
  background: false,
  step: 1,
  levels: ['1K', '2K', '4K'],
  referencesMin: 0,
  referencesMax: 14,
  pixels: [921_600, 16_777_216],
  defaultSize: { width: 2048, height: 2048 },
};
const fifth: SeedreamModel = {
  ...fourth,
  outputFormat: true,
  pixels: [3_686_400, 16_777_216],
  levels: ['2K', '3K', '4K'],
};
const fifthPro: SeedreamModel = {
  ...fourth,
  outputFormat: true,
  single: true,
  referencesMax: 10,
  pixels: [921_600, 4_194_304],
  step: 16,
  levels: ['1K', '2K'],
};
const third: SeedreamModel = {
  ...fourth,
  third: true,
  referencesMax: 0,
  pixels: [512 * 512, 2048 * 2048],
  defaultSize: { width: 1024, height: 1024 },
};

/** The ids of one region; those of the other lack `doubao-`. The dates of 5.0's variants are not published: any. */
const families: readonly (readonly [pattern: RegExp, model: SeedreamModel])[] = [
  [
    /^(do(ubao|la)-)?seedream-5-5-\d{6}$/,
    { ...fifthPro, background: true, step: 1, pixels: [1, 4_194_304], levels: ['1K', '1.5K', '2K'] },
  ],
  [/^(do(ubao|la)-)?seedream-5-0-pro-\d{6}$/, fifthPro],
  [/^(doubao-)?seedream-5-0(-lite)?-\d{6}$/, fifth],
  [/^(doubao-)?seedream-4-5-251128$/, { ...fourth, pixels: [3_686_400, 16_777_216] }],
  [/^(doubao-)?seedream-4-0-250828$/, fourth],
  [/^(doubao-)?seedream-3-0-t2i-250415$/, third],
  [
    /^(doubao-)?seededit-3-0-i2i-250628$/,
    { ...third, referencesMin: 1, referencesMax: 1, pixels: undefined },
  ],
];

const modelOfEndpoints = 'doubao-seedream-4-5-251128';

export function findSeedreamModel(
  name: string,
): { readonly name: string; readonly model: SeedreamModel } | undefined {
  const underlying = /^ep-[\w-]+$/.test(name) ? modelOfEndpoints : name;
  const found = families.find(([pattern]) => pattern.test(underlying));
  return found === undefined ? undefined : { name: underlying, model: found[1] };
}

/** @throws {ArkError} 400 on `size`. `2K` is square here; the original picks the aspect from the prompt. */
export function readSize(
  size: string | undefined,
  { pixels, defaultSize, step, levels, third: isThird }: SeedreamModel,
): PixelSize {
  if (size === undefined) return defaultSize;
  if (pixels === undefined) {
    if (size !== 'adaptive') throw invalid('size', 'only adaptive is supported by the model');
    return defaultSize;
  }
  const whole = isThird ? null : wholeSizes.exec(size);
  const exact = /^(\d{2,5})x(\d{2,5})$/.exec(size);
  if ((whole === null && exact === null) || (whole !== null && !levels.includes(size)))
    throw invalid('size', `${size} is not supported by the model`);
  const width = whole === null ? Number(exact?.[1]) : Number(whole[1]) * 1024;
  const height = whole === null ? Number(exact?.[2]) : width;
  if (width % step !== 0 || height % step !== 0) throw invalid('size', `must be multiples of ${step}`);
  const [min, max] = pixels;
  if (width * height < min || width * height > max) {
    throw invalid('size', `image size must be within ${min} and ${max} pixels`);
  }
  if (Math.max(width / height, height / width) > aspectMax)
    throw invalid('size', 'aspect ratio must be within 1/16 and 16');
  return { width, height };
}
