import { z } from 'zod';
import { areaOf, linesOf, link, sizeOf, taken, word } from '../engine.ts';
import type { Call, Desk, FaultSet, Rendered, WireRequest } from '../engine.ts';

export interface KlingDetail extends Rendered {
  readonly path: string;
  readonly legacy: boolean;
  readonly charge: number;
  readonly externalId: string | undefined;
}

export interface KlingOrder {
  readonly model: string;
  readonly prompt: string;
  readonly callbackUrl: string | undefined;
  readonly models: RegExp;
  readonly settle: (faults: FaultSet) => KlingDetail;
}

const options = {
  callback_url: link.optional(),
  external_task_id: z.string().min(1).optional(),
  watermark_info: z.strictObject({ enabled: z.boolean() }).optional(),
};
const mediaUrl = z
  .string()
  .regex(/^(?:https?:\/\/\S+|[A-Za-z0-9+/]+=*)$/, 'must be a URL, or base64 without a prefix');
const id = z.string().optional();
const number = z.union([z.string(), z.number()]);
const item = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('prompt'), text: z.string().min(1) }),
  z.strictObject({ type: z.enum(['first_frame', 'last_frame', 'refer_image', 'image']), url: mediaUrl, id }),
  z.strictObject({ type: z.enum(['feature_video', 'base_video', 'video']), url: link, id }),
  z.strictObject({ type: z.literal('element'), element_id: number, id }),
]);
const tail = {
  settings: z
    .strictObject({
      ...taken({ flag: 'multi_shot', text: 'character_orientation' }),
      resolution: word('720p 1080p 4k').default('720p'),
      duration: z.int().default(5),
      aspect_ratio: z.string().optional(),
      audio: z.enum(['native', 'off', 'original']).optional(),
    })
    .prefault({}),
  options: z.strictObject(options).default({}),
};
const bodies = {
  text: z.strictObject({ prompt: z.string().min(1), ...tail }),
  contents: z.strictObject({ contents: z.array(item).min(1), ...tail }),
};
/**
 * Tenths of a unit per second. The first number is for silent videos, the second for videos with sound or input video.
 */
const rates: Readonly<Record<string, readonly [number, number]>> = {
  '720p': [6, 9],
  '1080p': [8, 12],
  '4k': [30, 30],
};

export function readKling(desk: Desk<KlingDetail>, path: string, { request, id: model }: Call): KlingOrder {
  const body =
    path === 'text-to-video'
      ? { ...desk.read(bodies.text, request), contents: [] }
      : { prompt: '', ...desk.read(bodies.contents, request) };
  const { contents, settings, options: asked } = body;
  const { resolution, duration: seconds, aspect_ratio: ratio, audio } = settings;
  const isDearer = audio === 'native' || contents.some(({ type }) => type.endsWith('video'));
  const [silent = 0, sounding = 0] = rates[resolution] ?? [];
  const said = contents.find((each) => each.type === 'prompt')?.text;
  return {
    model,
    prompt: said ?? body.prompt,
    callbackUrl: asked.callback_url,
    models: /^kling-(?:\d|o\d)/,
    settle: (faults) => ({
      ...sizeOf(linesOf(resolution), ratio ?? faults.text('ratio') ?? '16:9'),
      seconds,
      path: `/${path}`,
      legacy: false,
      charge: (isDearer ? sounding : silent) * 10 * seconds,
      externalId: asked.external_task_id,
    }),
  };
}

/** We have not verified the name of the URL field on every path, so either name is accepted. */
const image = z.strictObject({ image: mediaUrl.optional(), image_url: mediaUrl.optional(), type: id });
const common = {
  ...taken({ text: 'negative_prompt' }),
  model_name: z.string().optional(),
  prompt: z.string().default(''),
  image: mediaUrl.optional(),
  image_list: z.array(image).optional(),
  element_list: z.array(z.strictObject({ element_id: number })).optional(),
  ...options,
};
const video = z.strictObject({ ...taken({ text: 'refer_type keep_original_sound' }), video_url: link });
const videoSchema = z.looseObject({
  ...common,
  mode: z.enum(['std', 'pro', '4k']).default('std'),
  duration: z.string().regex(/^\d{1,2}$/).default('5'),
  aspect_ratio: z.string().optional(),
  sound: z.enum(['on', 'off']).default('off'),
  image_tail: mediaUrl.optional(),
  video_list: z.array(video).optional(),
}); // prettier-ignore
const imageSchema = z.looseObject({
  ...common,
  resolution: z.enum(['1k', '2k', '4k']).default('1k'),
  n: z.int().min(1).default(1),
  aspect_ratio: z.string().default('16:9'),
});
const modes = { std: ['720p', 30], pro: ['1080p', 50], '4k': ['4k', 300] } as const;

/**
 * Requests of the legacy standard have `model_name` in the body and durations as strings. Unknown fields are ignored.
 */
export function legacyVideos(desk: Desk<KlingDetail>, path: string, request: WireRequest): KlingOrder {
  const body = desk.read(videoSchema, request);
  const [resolution, rate] = modes[body.mode];
  const seconds = Number(body.duration);
  const charge = rate * seconds * (body.sound === 'on' ? 2 : 1);
  return legacyOrder(body, path, (faults) => {
    const size = sizeOf(linesOf(resolution), body.aspect_ratio ?? faults.text('ratio') ?? '16:9');
    return { ...size, seconds, charge };
  });
}

export function legacyImages(desk: Desk<KlingDetail>, path: string, request: WireRequest): KlingOrder {
  const body = desk.read(imageSchema, request);
  const { resolution, n: images } = body;
  const size = areaOf({ '1k': 1024, '2k': 2048, '4k': 4096 }[resolution], body.aspect_ratio);
  const charge = (resolution === '4k' ? 1600 : 800) * images;
  return legacyOrder(body, path, () => ({ ...size, seconds: 0, images, charge }));
}

function legacyOrder(
  body: Pick<z.infer<typeof imageSchema>, 'model_name' | 'prompt' | 'callback_url' | 'external_task_id'>,
  path: string,
  render: (faults: FaultSet) => Rendered & { readonly charge: number },
): KlingOrder {
  const { model_name: model = 'kling-v1', prompt, callback_url: callbackUrl, external_task_id } = body;
  return {
    model,
    prompt,
    callbackUrl,
    models: /^kling-(?:v\d|video-o\d|image-o\d)/,
    settle: (faults) => ({ ...render(faults), path, legacy: true, externalId: external_task_id }),
  };
}
