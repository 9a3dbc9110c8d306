import { z } from 'zod';

/** What a job has to remember of its request. */
export const googleDetail = z.object({
  api: z.enum(['omni', 'veo']),
  /** The name that the answers give it: of an operation the whole path. */
  name: z.string(),
  width: z.number(),
  height: z.number(),
  seconds: z.number(),
  samples: z.number(),
  /** Tokens of input and of output; Veo reports none. */
  tokens: z.tuple([z.number(), z.number()]).optional(),
  /** A link, the bytes, or a bucket of the caller. */
  delivery: z.enum(['uri', 'inline', 'bucket']),
  bucket: z.string().optional(),
  /** Only `flex` and `deferred` say that they wait. */
  tier: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  userMetadata: z.unknown().optional(),
});
export type GoogleDetail = z.infer<typeof googleDetail>;

/** Longest output in seconds. */
export const omniModels: Readonly<Record<string, number>> = {
  'gemini-omni-1.1-flash': 10,
  'gemini-omni-1.2-flash': 15,
};

/** Whether the previews are off by now is not verified. */
export const veoModels = {
  gemini: ['veo-3.1-generate-preview', 'veo-3.1-fast-generate-preview', 'veo-3.1-lite-generate-preview'],
  vertex: ['veo-3.1-generate-001', 'veo-3.1-fast-generate-001', 'veo-3.1-lite-generate-001'],
} as const;

export interface GoogleImageModel {
  readonly sizes: readonly string[];
  readonly imagesMax: number;
  /** Shows its drafts as thoughts. */
  readonly thinks: boolean;
}

export const googleImageModels: Readonly<Record<string, GoogleImageModel>> = {
  // How many images it reads is not verified.
  'gemini-nano-banana-2.1': { sizes: ['1K', '2K', '4K'], imagesMax: 10, thinks: false },
  'gemini-3-pro-image': { sizes: ['1K', '2K', '4K'], imagesMax: 14, thinks: true },
  'gemini-3.1-flash-lite-image': { sizes: ['1K'], imagesMax: 10, thinks: false },
};

const shortSides: Readonly<Record<string, number>> = { '360p': 360, '720p': 720, '1080p': 1080, '4k': 2160 };

export function videoSize(resolution: string, ratio: string): { width: number; height: number } {
  const short = shortSides[resolution] ?? 720;
  const long = (short * 16) / 9;
  return ratio === '9:16' ? { width: short, height: long } : { width: long, height: short };
}

export function imageSize(size: string, ratio: string): { width: number; height: number } {
  const side = Number.parseInt(size, 10) * 1024;
  const [wide = 1, high = 1] = ratio.split(':').map(Number);
  const even = (value: number): number => Math.round(value / 2) * 2;
  return { width: even(side * Math.sqrt(wide / high)), height: even(side * Math.sqrt(high / wide)) };
}
