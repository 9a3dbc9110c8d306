import { z } from 'zod';

/** What a job has to remember of its request. */
export const klingDetail = z.object({
  kind: z.enum(['video', 'image']),
  /** The path that it was submitted at. */
  path: z.string(),
  legacy: z.boolean(),
  width: z.number(),
  height: z.number(),
  seconds: z.number(),
  images: z.number(),
  /** Hundredths of a unit. */
  charge: z.number(),
  externalId: z.string().optional(),
});
export type KlingDetail = z.infer<typeof klingDetail>;

/** Models of the new standard; prices in tenths of a unit for each second. */
export interface KlingVideoModel {
  readonly paths: readonly string[];
  readonly resolutions: readonly string[];
  readonly seconds: readonly [min: number, max: number];
  readonly ratios: readonly string[];
  readonly sound: 'never' | 'choice' | 'always';
  readonly multiShot: boolean;
  readonly promptMax: number;
  /** By resolution: silent, with sound, with a video as input. */
  readonly rates: Readonly<Record<string, readonly [number, number, number]>>;
}

const plain = ['text-to-video', 'image-to-video'];
const ratios = ['16:9', '9:16', '1:1'];
const third: KlingVideoModel = {
  paths: plain,
  resolutions: ['720p', '1080p', '4k'],
  seconds: [3, 15],
  ratios,
  sound: 'choice',
  multiShot: true,
  promptMax: 3072,
  rates: { '720p': [6, 9, 9], '1080p': [8, 12, 12], '4k': [30, 30, 30] },
};
const second: KlingVideoModel = {
  ...third,
  resolutions: ['720p', '1080p'],
  multiShot: false,
  rates: { '720p': [3, 3, 5], '1080p': [5, 10, 8] },
};

export const klingVideoModels: Readonly<Record<string, KlingVideoModel>> = {
  'kling-3.0-turbo': { ...second, sound: 'always', rates: { '720p': [8, 8, 8], '1080p': [10, 10, 10] } },
  'kling-3.0': { ...third, paths: [...plain, 'motion-control'] },
  'kling-3.0-omni': {
    ...third,
    paths: ['omni-video'],
    rates: { '720p': [6, 8, 9], '1080p': [8, 10, 12], '4k': [30, 30, 30] },
  },
  'kling-o1': {
    ...second,
    paths: ['omni-video'],
    seconds: [3, 10],
    sound: 'never',
    rates: { '720p': [6, 6, 9], '1080p': [8, 8, 12] },
  },
  'kling-2.6': { ...second, paths: [...plain, 'motion-control'] },
  'kling-2.5-turbo': { ...second, sound: 'never' },
  // Not verified: by analogy.
  'kling-4.0': {
    ...second,
    paths: [...plain, 'omni-video'],
    seconds: [3, 30],
    ratios: [...ratios, '21:9'],
    sound: 'always',
    promptMax: 26_000,
    rates: { '720p': [8, 8, 10], '1080p': [10, 10, 14] },
  },
};

const sides: Readonly<Record<string, number>> = {
  '720p': 720,
  '1080p': 1080,
  '4k': 2160,
  '1k': 1024,
  '2k': 2048,
};

/** Pixels of a resolution: of videos its short side, of images the side of a square. */
export function klingSize(resolution: string, ratio: string, kind: 'video' | 'image'): [number, number] {
  const side = sides[resolution] ?? 720;
  const [wide = 1, high = 1] = ratio.split(':').map(Number);
  const even = (value: number): number => Math.round(value / 2) * 2;
  if (kind === 'video') {
    const long = even((side * Math.max(wide, high)) / Math.min(wide, high));
    return wide >= high ? [long, side] : [side, long];
  }
  const area = resolution === '4k' ? 4096 : side;
  const factor = Math.sqrt(wide / high);
  return [even(area * factor), even(area / factor)];
}
