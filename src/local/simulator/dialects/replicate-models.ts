import { createHash } from 'node:crypto';
import { z } from 'zod';
import { check } from '../wire.ts';
import { invalidInput } from './replicate-error.ts';

/** Three official models with closed inputs. */
export interface ReplicateModel {
  readonly input: z.ZodType<Record<string, unknown>>;
  readonly render: (input: unknown) => ReplicateOutput;
}

export interface ReplicateOutput {
  readonly kind: 'video' | 'image';
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  readonly format: 'mp4' | 'webp' | 'jpeg' | 'png';
}

const file = z
  .string()
  .regex(/^(?:https?:\/\/\S+|data:[\w.+/-]+;base64,[A-Za-z0-9+/]+=*)$/, 'must be a valid URI');
const files = (max: number) => z.array(file).max(max).optional();
const seed = z.int().optional();
const lines: Readonly<Record<string, number>> = { '480p': 480, '720p': 720, '1080p': 1080, '4k': 2160 };
const ratios = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9'] as const;

const seedance = z
  .strictObject({
    prompt: z.string().min(1),
    image: file.optional(),
    last_frame_image: file.optional(),
    reference_images: files(9),
    reference_videos: files(3),
    reference_audios: files(3),
    duration: z.int().min(-1).max(15).default(5),
    resolution: z.enum(['480p', '720p', '1080p', '4k']).default('720p'),
    aspect_ratio: z.enum([...ratios, 'adaptive']).default('16:9'),
    generate_audio: z.boolean().default(true),
    seed,
  })
  .refine(({ image, last_frame_image: last }) => last === undefined || image !== undefined, {
    path: ['last_frame_image'],
    message: 'last_frame_image needs an image',
  })
  .refine(
    ({ image, reference_images: images, reference_videos: videos, reference_audios: audios }) =>
      image === undefined || [images, videos, audios].every((list = []) => list.length === 0),
    { path: ['reference_images'], message: 'references cannot be used with frames' },
  );

const wan = z.strictObject({
  prompt: z.string().min(1),
  negative_prompt: z.string().optional(),
  resolution: z.enum(['480p', '720p', '1080p']).default('1080p'),
  aspect_ratio: z.enum(['adaptive', '16:9', '9:16', '1:1', '4:3', '3:4']).default('adaptive'),
  duration: z.int().min(2).max(30).default(5),
  enable_prompt_expansion: z.boolean().optional(),
  seed,
});

const side = z.int().min(256).max(2048).optional();
const flux = z
  .strictObject({
    prompt: z.string().min(1),
    input_images: files(8),
    aspect_ratio: z
      .enum(['1:1', '16:9', '3:2', '2:3', '4:5', '5:4', '9:16', '3:4', '4:3', 'match_input_image', 'custom'])
      .default('1:1'),
    resolution: z.enum(['1 MP', '2 MP', '3 MP', '4 MP']).default('1 MP'),
    width: side,
    height: side,
    safety_tolerance: z.int().min(1).max(5).default(2),
    seed,
    output_format: z.enum(['webp', 'jpg', 'png']).default('webp'),
    output_quality: z.int().min(0).max(100).optional(),
  })
  .refine(
    (input) =>
      (input.aspect_ratio === 'custom') === (input.width !== undefined && input.height !== undefined),
    {
      path: ['width'],
      message: 'width and height go with a custom aspect_ratio',
    },
  );

function renderVideo({
  resolution,
  aspect_ratio: ratio,
  duration,
}: {
  readonly resolution: string;
  readonly aspect_ratio: string;
  readonly duration: number;
}): ReplicateOutput {
  const [width, height] = sizeOf(lines[resolution] ?? 720, ratio);
  return { kind: 'video', width, height, seconds: duration > 0 ? duration : 5, format: 'mp4' };
}

/** The shorter side has as many pixels as the resolution has lines. */
function sizeOf(short: number, ratio: string): readonly [width: number, height: number] {
  const [x = 16, y = 9] = /^\d/.test(ratio) ? ratio.split(':').map(Number) : [16, 9];
  const even = (pixels: number) => 2 * Math.round(pixels / 2);
  return x >= y ? [even((short * x) / y), short] : [short, even((short * y) / x)];
}

function renderImage(input: z.infer<typeof flux>): ReplicateOutput {
  const [x = 1, y = 1] = /^\d/.test(input.aspect_ratio) ? input.aspect_ratio.split(':').map(Number) : [1, 1];
  const pixels = Number.parseInt(input.resolution, 10) * 1024 * 1024;
  const width = input.width ?? 16 * Math.round(Math.sqrt((pixels * x) / y) / 16);
  const height = input.height ?? 16 * Math.round(Math.sqrt((pixels * y) / x) / 16);
  const format = input.output_format === 'jpg' ? 'jpeg' : input.output_format;
  return { kind: 'image', width, height, seconds: 0, format };
}

function model<Input extends Record<string, unknown>>(
  input: z.ZodType<Input>,
  render: (input: Input) => ReplicateOutput,
): ReplicateModel {
  return { input, render: (given) => render(check(input, given, invalidInput)) };
}

const models: Readonly<Record<string, ReplicateModel>> = {
  'bytedance/seedance-2.0': model(seedance, renderVideo),
  'alibaba/wan-3-prime': model(wan, renderVideo),
  'black-forest-labs/flux-2-pro': model(flux, renderImage),
};

export function findReplicateModel(name: string): ReplicateModel | undefined {
  return models[name];
}

/** The hash by which a copy of the model that is not official is named here. */
export function replicateVersion(name: string): string {
  return createHash('sha256').update(name).digest('hex');
}

/** `owner/name`, `owner/name:<hash>` or `<hash>` → owner/name. */
export function modelOfVersion(version: string): string | undefined {
  const [name = '', hash] = version.includes('/') ? version.split(':') : ['', version];
  const names = name === '' ? Object.keys(models) : [name];
  return names.find(
    (one) => models[one] !== undefined && (hash === undefined || hash === replicateVersion(one)),
  );
}

/** A deployment is called as the model that it runs, whoever owns it. */
export function modelOfDeployment(name: string): string | undefined {
  return Object.keys(models).find((one) => one.endsWith(`/${name}`));
}
