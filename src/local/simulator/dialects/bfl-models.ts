import { z } from 'zod';

/** What a job has to remember of its request. */
export const bflDetail = z.object({
  kind: z.enum(['video', 'image']),
  /** FLUX 3: another word while it runs, links that live longer. */
  third: z.boolean(),
  width: z.number(),
  height: z.number(),
  seconds: z.number(),
  format: z.enum(['png', 'jpeg']),
  seed: z.number().optional(),
  /** Hundredths of a credit. */
  cost: z.number(),
  /** The create does not know the price yet: it depends on what is rendered. */
  pricedLater: z.boolean(),
  inputMegapixels: z.number(),
  draft: z.boolean(),
  webhook: z.object({ secret: z.string().optional() }).optional(),
});
export type BflDetail = z.infer<typeof bflDetail>;

/** FLUX.2 and older. */
export interface BflImageModel {
  /** Pixels of a free size; undefined: the model accepts a ratio. */
  readonly side: { readonly min: number; readonly max: number; readonly step: number } | undefined;
  readonly pixelsMax: number;
  /** Input images, `input_image` and `input_image_2` and so on. */
  readonly inputsMax: number;
  readonly toleranceMax: number;
  readonly needsImage: boolean;
  /** Hundredths of a credit: for the first megapixel, and for each further one. */
  readonly price: readonly [first: number, further: number];
}

const fourMegapixels = 4 * 1024 * 1024;
const flux2: BflImageModel = {
  side: { min: 64, max: 8192, step: 16 },
  pixelsMax: fourMegapixels,
  inputsMax: 8,
  toleranceMax: 5,
  needsImage: false,
  price: [300, 150],
};
const klein = { ...flux2, inputsMax: 4 };
const kontext: BflImageModel = {
  ...flux2,
  side: undefined,
  inputsMax: 4,
  toleranceMax: 6,
  price: [400, 0],
};
const flux1: BflImageModel = {
  ...kontext,
  side: { min: 256, max: 1440, step: 32 },
  inputsMax: 0,
};

export const bflImageModels: ReadonlyMap<string, BflImageModel> = new Map([
  ['flux-2-pro', flux2],
  ['flux-2-max', { ...flux2, price: [700, 0] }],
  ['flux-2-flex', { ...flux2, price: [500, 0] }],
  ['flux-2-klein-4b', { ...klein, price: [140, 0] }],
  ['flux-2-klein-9b', { ...klein, price: [150, 0] }],
  ['flux-kontext-pro', kontext],
  ['flux-kontext-max', { ...kontext, price: [800, 0] }],
  ['flux-pro-1.1', flux1],
  ['flux-pro-1.1-ultra', { ...kontext, inputsMax: 0, price: [600, 0] }],
  // Prices of these two are not documented.
  ['flux-pro-1.0-fill', { ...flux1, side: undefined, needsImage: true, price: [500, 0] }],
  ['flux-dev', { ...flux1, price: [250, 0] }],
]);

/** Sizes of FLUX 3 videos (13.3); those of qhd and uhd are guessed as twice the smaller ones. */
const videoSizes: Readonly<Record<string, readonly [hd: string, fhd: string]>> = {
  '21:9': ['1440x608', '2176x928'],
  '16:9': ['1280x704', '1920x1088'],
  '4:3': ['1024x768', '1536x1152'],
  '1:1': ['960x960', '1440x1440'],
  '3:4': ['768x1024', '1152x1536'],
  '9:16': ['704x1280', '1088x1920'],
};
export const videoRatios = Object.keys(videoSizes);

export function bflVideoSize(resolution: string, ratio: string): { width: number; height: number } {
  const [hd, fhd] = videoSizes[ratio] ?? ['1280x704', '1920x1088'];
  const text = resolution === 'hd' || resolution === 'qhd' ? hd : fhd;
  const factor = resolution === 'qhd' || resolution === 'uhd' ? 2 : 1;
  const [width = 0, height = 0] = text.split('x').map((side) => Number(side) * factor);
  return { width, height };
}

/** Hundredths of a credit for each second; qhd and uhd are guessed. */
export function bflVideoRate(resolution: string, fromVideo: boolean, draft: boolean): number {
  if (draft) return fromVideo ? 1200 : 600;
  const rates: Readonly<Record<string, readonly [number, number]>> = {
    hd: [1700, 4100],
    fhd: [2900, 5300],
    qhd: [5000, 8000],
    uhd: [9000, 12_000],
  };
  const [plain, continued] = rates[resolution] ?? [1700, 4100];
  return fromVideo ? continued : plain;
}

/** FLUX 3 images: the side of a square, and hundredths of a credit; that of 1.5k is guessed. */
export const bflImageResolutions: Readonly<Record<string, readonly [side: number, price: number]>> = {
  '768sq': [768, 410],
  '1k': [1024, 480],
  '1.5k': [1536, 700],
  '2k': [2048, 1000],
  '4k': [4096, 6070],
};

/** A size of this area in this ratio, in whole steps of 16 pixels. */
export function areaSize(area: number, ratio: string): { width: number; height: number } {
  const [wide = 1, high = 1] = ratio.split(':').map(Number);
  const step = (value: number): number => Math.round(value / 16) * 16;
  return { width: step(Math.sqrt((area * wide) / high)), height: step(Math.sqrt((area * high) / wide)) };
}
