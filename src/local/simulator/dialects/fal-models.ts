import { z } from 'zod';
import { shapeOfSide } from '../shape.ts';

/** Inputs of three real models, each a closed object, and what they render. */

export interface FalOutput {
  readonly kind: 'video' | 'image';
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  /** What `x-fal-billable-units` says, in hundredths. */
  readonly units: number;
  readonly seed?: number;
}

/** The prompt, and what will be rendered. */
export type FalModel = z.ZodType<{ readonly prompt: string; readonly output: FalOutput }>;

const media = z.string().regex(/^(?:https?:\/\/\S+|data:[\w.+-]+\/[\w.+-]+;base64,\S+)$/, 'must be a URL');
const prompt = z.string().min(1).max(20_000);
const shortSides: Readonly<Record<string, number>> = { '480p': 480, '720p': 720, '1080p': 1080, '4k': 2160 };

const seedanceSeconds = Array.from({ length: 12 }, (_, index) => String(index + 4));
const seedanceRatios = ['auto', '21:9', '16:9', '4:3', '1:1', '3:4', '9:16'];

function seedance(kind: string, resolutions: readonly string[]): FalModel {
  const references = {
    image_urls: z.array(media).max(9).default([]),
    video_urls: z.array(media).max(3).default([]),
    audio_urls: z.array(media).max(3).default([]),
  };
  const inputs =
    kind === 'image-to-video'
      ? { image_url: media, end_image_url: media.optional() }
      : kind === 'reference-to-video'
        ? references
        : {};
  return z
    .strictObject({
      prompt,
      duration: z.enum(['auto', ...seedanceSeconds]).default('auto'),
      resolution: z.enum(resolutions).default('720p'),
      aspect_ratio: z.enum(seedanceRatios).default('auto'),
      generate_audio: z.boolean().default(true),
      bitrate_mode: z.enum(['standard', 'high']).optional(),
      end_user_id: z.string().optional(),
      ...inputs,
    })
    .superRefine((body, context) => {
      const lists = z.looseObject(references).parse(body);
      const [images, videos, audios] = [lists.image_urls, lists.video_urls, lists.audio_urls];
      const files = images.length + videos.length;
      if (audios.length > 0 && files === 0)
        context.addIssue({
          code: 'custom',
          path: ['audio_urls'],
          message: 'audio needs an image or a video',
        });
      if (files + audios.length > 12)
        context.addIssue({ code: 'custom', path: ['image_urls'], message: 'at most 12 files' });
    })
    .transform((body) => {
      const seconds = body.duration === 'auto' ? 5 : Number(body.duration);
      const ratio = body.aspect_ratio === 'auto' ? '16:9' : body.aspect_ratio;
      const size = shapeOfSide(shortSides[body.resolution] ?? 720, ratio);
      const tokens = (size.width * size.height * 24 * seconds) / 1024;
      const units = Math.round(tokens / 10);
      return { prompt: body.prompt, output: { kind: 'video', ...size, seconds, units, seed: 42 } };
    });
}

const klingSeconds = Array.from({ length: 13 }, (_, index) => String(index + 3));
const shotSeconds = Array.from({ length: 15 }, (_, index) => String(index + 1));

/** `text-to-video` has a ratio by analogy. */
function kling(kind: string, tier: string): FalModel {
  const inputs =
    kind === 'image-to-video'
      ? { start_image_url: media, end_image_url: media.optional() }
      : { aspect_ratio: z.enum(['16:9', '9:16', '1:1']).default('16:9') };
  const element = z.strictObject({
    frontal_image_url: media.optional(),
    reference_image_urls: z.array(media).min(1).max(3).optional(),
    video_url: media.optional(),
    voice_id: z.string().optional(),
  });
  return z
    .strictObject({
      prompt: prompt.optional(),
      multi_prompt: z
        .array(z.strictObject({ prompt, duration: z.enum(shotSeconds) }))
        .min(1)
        .optional(),
      shot_type: z.enum(['customize', 'intelligent']).optional(),
      duration: z.enum(klingSeconds).default('5'),
      generate_audio: z.boolean().default(true),
      negative_prompt: z.string().optional(),
      cfg_scale: z.number().min(0).max(1).default(0.5),
      elements: z.array(element).optional(),
      ...inputs,
    })
    .superRefine((body, context) => {
      if ((body.prompt === undefined) === (body.multi_prompt === undefined))
        context.addIssue({ code: 'custom', path: ['prompt'], message: 'either prompt or multi_prompt' });
    })
    .transform((body) => {
      const { aspect_ratio: ratio = '16:9' } = z
        .looseObject({ aspect_ratio: z.string().optional() })
        .parse(body);
      const size = shapeOfSide(tier === '4k' ? 2160 : tier === 'pro' ? 1080 : 720, ratio);
      const seconds = Number(body.duration);
      const said = body.prompt ?? body.multi_prompt?.map((shot) => shot.prompt).join('\n') ?? '';
      return { prompt: said, output: { kind: 'video', ...size, seconds, units: seconds * 100 } };
    });
}

const presets: Readonly<Record<string, readonly [number, number]>> = {
  square_hd: [1024, 1024],
  square: [512, 512],
  portrait_4_3: [768, 1024],
  portrait_16_9: [576, 1024],
  landscape_4_3: [1024, 768],
  landscape_16_9: [1024, 576],
};
const side = z.int().min(64).max(4096);

function flux(isEdit: boolean): FalModel {
  const names = [...Object.keys(presets), ...(isEdit ? ['auto'] : [])];
  return z
    .strictObject({
      prompt,
      image_size: z
        .union([z.enum(names), z.strictObject({ width: side, height: side })])
        .default(isEdit ? 'auto' : 'landscape_4_3'),
      seed: z.int().optional(),
      output_format: z.enum(['jpeg', 'png']).optional(),
      safety_tolerance: z.enum(['1', '2', '3', '4', '5']).default('2'),
      enable_safety_checker: z.boolean().default(true),
      ...(isEdit ? { image_urls: z.array(media).min(1).max(9) } : {}),
    })
    .transform((body) => {
      const { image_size: asked, seed = 42 } = body;
      const [width, height] =
        typeof asked === 'string' ? (presets[asked] ?? [1024, 1024]) : [asked.width, asked.height];
      const units = Math.ceil((width * height) / 1_000_000) * 100;
      return { prompt: body.prompt, output: { kind: 'image', width, height, seconds: 0, units, seed } };
    });
}

/** The whole id of a model → its input; undefined: there is none. */
export function falModel(id: string): FalModel | undefined {
  const video = /^bytedance\/seedance-2\.0\/(?:(mini|fast)\/)?((?:text|image|reference)-to-video)$/.exec(id);
  if (video !== null)
    return seedance(
      video[2] ?? '',
      video[1] === undefined ? ['480p', '720p', '1080p', '4k'] : ['480p', '720p'],
    );
  const other = /^fal-ai\/kling-video\/v3\/(pro|standard|4k|turbo)\/((?:text|image)-to-video)$/.exec(id);
  if (other !== null) return kling(other[2] ?? '', other[1] ?? '');
  const picture = /^fal-ai\/flux-2-pro(\/edit)?$/.exec(id);
  return picture === null ? undefined : flux(picture[1] !== undefined);
}
