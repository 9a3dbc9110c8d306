/** Models of v2. */
export interface H3Model {
  readonly resolutions: readonly string[];
  readonly seconds: readonly [min: number, max: number];
  /** Whether it has `extra`. */
  readonly extra: boolean;
}

export const h3Models: Readonly<Record<string, H3Model>> = {
  'MiniMax-H3': { resolutions: ['768P', '2K'], seconds: [4, 15], extra: false },
  'MiniMax-H3-Max': { resolutions: ['480P', '768P'], seconds: [5, 15], extra: true },
};

/** Models of v1 (7.2). */
export interface HailuoModel {
  readonly resolutions: readonly string[];
  readonly seconds: readonly number[];
  /** Whether a first frame is taken. */
  readonly firstFrame: 'never' | 'choice' | 'always';
  readonly lastFrame: boolean;
  readonly subject: boolean;
  readonly pretreatment: boolean;
}

const newer: HailuoModel = {
  resolutions: ['768P', '1080P'],
  seconds: [6, 10],
  firstFrame: 'choice',
  lastFrame: false,
  subject: false,
  pretreatment: true,
};
const older: HailuoModel = { ...newer, resolutions: ['720P'], seconds: [6], pretreatment: false };
const toVideo: HailuoModel = { ...older, firstFrame: 'always' };
const fromText: HailuoModel = { ...older, firstFrame: 'never' };

export const hailuoModels: Readonly<Record<string, HailuoModel>> = {
  'MiniMax-Hailuo-2.3': newer,
  'MiniMax-Hailuo-2.3-Fast': { ...newer, firstFrame: 'always' },
  'MiniMax-Hailuo-02': { ...newer, resolutions: ['512P', '768P', '1080P'], lastFrame: true },
  'T2V-01': fromText,
  'T2V-01-Director': fromText,
  'I2V-01': toVideo,
  'I2V-01-Director': toVideo,
  'I2V-01-live': toVideo,
  'S2V-01': { ...fromText, resolutions: [], seconds: [], subject: true },
};

const sides: Readonly<Record<string, number>> = {
  '480P': 480,
  '512P': 512,
  '720P': 720,
  '768P': 768,
  '1080P': 1080,
  '2K': 1440,
};

/** Pixels: the short side as named, the long one rounded down to 32. */
export function miniMaxSize(resolution: string, ratio: string): [width: number, height: number] {
  const side = sides[resolution] ?? 768;
  const [wide = 1, high = 1] = ratio.split(':').map(Number);
  const long = Math.floor((side * Math.max(wide, high)) / Math.min(wide, high) / 32) * 32;
  if (wide === high) return [side, side];
  return wide > high ? [long, side] : [side, long];
}

const imageSizes: Readonly<Record<string, readonly [width: number, height: number]>> = {
  '1:1': [1024, 1024],
  '16:9': [1280, 720],
  '4:3': [1152, 864],
  '3:2': [1248, 832],
  '2:3': [832, 1248],
  '3:4': [864, 1152],
  '9:16': [720, 1280],
  '21:9': [1344, 576],
};

export const imageRatios = Object.keys(imageSizes);

export function imageSize(ratio: string): readonly [width: number, height: number] {
  return imageSizes[ratio] ?? [1024, 1024];
}
