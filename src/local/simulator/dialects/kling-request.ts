import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Problems } from '../desk.ts';
import type { FaultSet } from '../fault.ts';
import { rendered } from '../job.ts';
import { areaOf, linesOf, sizeOf } from '../sizes.ts';
import { check, json, parseJson, refusals } from '../wire.ts';
import type { Mistake } from '../wire.ts';

/** An error body has no `data`. */
export const klingError = refusals(({ status, code, message }, now) =>
  json(status, { code, message, request_id: randomUUID() }, { date: new Date(now).toUTCString() }),
);
export const badParameter = (message: string) => klingError(400, 1201, message);
const noSuchModel = klingError(404, 1203, 'The requested resource does not exist.');
export const refuseKling = ({ path, reason }: Mistake) => badParameter(`${path}: ${reason}`);

export const klingProblems = {
  unauthorized: klingError(401, 1002, 'Authorization is invalid.'),
  forbidden: klingError(403, 1103, 'No permission for this interface or model.'),
  'not-found': noSuchModel,
  'rate-limited': klingError(429, 1302, 'The request is too fast, exceeding the rate limit.'),
  'quota-exhausted': klingError(429, 1102, 'The resource pack is used up or has expired.'),
  moderated: klingError(400, 1301, 'The request triggered the content security policy.'),
  internal: klingError(500, 5000, 'Internal server error.'),
  unavailable: klingError(503, 5001, 'The server is under maintenance.'),
} satisfies Problems;

export const klingDetail = z.object({
  ...rendered,
  /** The path that it was submitted at. */
  path: z.string(),
  legacy: z.boolean(),
  /** Hundredths of a unit. */
  charge: z.number(),
  externalId: z.string().optional(),
});
export type KlingDetail = z.infer<typeof klingDetail>;

export interface KlingOrder {
  readonly model: string;
  readonly prompt: string;
  readonly callbackUrl: string | undefined;
  /** @throws {WireError} 1203 for a model that the path does not have. */
  readonly settle: (model: string, faults: FaultSet) => KlingDetail;
}

const options = {
  callback_url: z.url().optional(),
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
  z.strictObject({ type: z.enum(['feature_video', 'base_video', 'video']), url: z.url(), id }),
  z.strictObject({ type: z.literal('element'), element_id: number, id }),
]);
const tail = {
  settings: z
    .strictObject({
      resolution: z.enum(['720p', '1080p', '4k']).default('720p'),
      duration: z.int().min(3).max(30).default(5),
      aspect_ratio: z.enum(['16:9', '9:16', '1:1', '21:9']).optional(),
      audio: z.enum(['native', 'off', 'original']).optional(),
      multi_shot: z.boolean().optional(),
      character_orientation: z.enum(['image', 'video']).optional(),
    })
    .prefault({}),
  options: z.strictObject(options).default({}),
};
const bodies = {
  text: z.strictObject({ prompt: z.string().min(1), ...tail }),
  contents: z.strictObject({ contents: z.array(item).min(1), ...tail }),
};
/** Tenths of a unit for each second: silent, and with sound or a video as input. */
const rates: Readonly<Record<string, readonly [number, number]>> = {
  '720p': [6, 9],
  '1080p': [8, 12],
  '4k': [30, 30],
};

/** The new standard: closed objects, whose model stands in the path. */
export function readKling(path: string, model: string, raw: Buffer): KlingOrder {
  const body =
    path === 'text-to-video'
      ? { ...check(bodies.text, parseJson(raw), refuseKling), contents: [] }
      : { prompt: '', ...check(bodies.contents, parseJson(raw), refuseKling) };
  const { contents, settings, options: asked } = body;
  const { resolution, duration, aspect_ratio: ratio, audio } = settings;
  const hasVideo = contents.some(({ type }) => type.endsWith('video'));
  const [silent = 0, sounding = 0] = rates[resolution] ?? [];
  const said = contents.find((each) => each.type === 'prompt')?.text;
  return {
    model,
    prompt: said ?? body.prompt,
    callbackUrl: asked.callback_url,
    settle(name, faults) {
      if (!/^kling-(?:\d|o\d)/.test(name)) throw noSuchModel;
      return {
        ...sizeOf(linesOf(resolution), ratio ?? faults.text('ratio') ?? '16:9'),
        seconds: duration,
        images: 0,
        path: `/${path}`,
        legacy: false,
        charge: (hasVideo || audio === 'native' ? sounding : silent) * 10 * duration,
        externalId: asked.external_task_id,
      };
    },
  };
}

const common = {
  model_name: z.string().optional(),
  prompt: z.string().max(2500).default(''),
  negative_prompt: z.string().max(2500).optional(),
  image: mediaUrl.optional(),
  /** The name of the address is not verified for every path: both are read. */
  image_list: z
    .array(
      z.strictObject({
        image: mediaUrl.optional(),
        image_url: mediaUrl.optional(),
        type: z.string().optional(),
      }),
    )
    .max(10)
    .optional(),
  element_list: z.array(z.strictObject({ element_id: number })).optional(),
  ...options,
};
const videoSchema = z.looseObject({
  ...common,
  mode: z.enum(['std', 'pro', '4k']).default('std'),
  duration: z.string().regex(/^\d{1,2}$/).default('5'),
  aspect_ratio: z.enum(['16:9', '9:16', '1:1']).optional(),
  sound: z.enum(['on', 'off']).default('off'),
  image_tail: mediaUrl.optional(),
  video_list: z.array(z.strictObject({ video_url: z.url(), refer_type: z.string().optional(), keep_original_sound: z.string().optional() })).max(1).optional(),
}); // prettier-ignore
const imageSchema = z.looseObject({
  ...common,
  resolution: z.enum(['1k', '2k', '4k']).default('1k'),
  n: z.int().min(1).max(9).default(1),
  aspect_ratio: z.enum(['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9']).default('16:9'),
});
const modes = { std: ['720p', 30], pro: ['1080p', 50], '4k': ['4k', 300] } as const;

/** The legacy standard: `model_name` in the body, durations as strings; unknown fields are passed over. */
export function readLegacyKling(kind: 'videos' | 'images', service: string, raw: Buffer): KlingOrder {
  const path = `/v1/${kind}/${service}`;
  if (kind === 'images') {
    const body = check(imageSchema, parseJson(raw), refuseKling);
    const side = { '1k': 1024, '2k': 2048, '4k': 4096 }[body.resolution];
    const charge = (body.resolution === '4k' ? 1600 : 800) * body.n;
    const size = areaOf(side, body.aspect_ratio);
    return legacyOrder(body, path, () => ({ ...size, seconds: 0, images: body.n, charge }));
  }
  const body = check(videoSchema, parseJson(raw), refuseKling);
  const [resolution, rate] = modes[body.mode];
  const seconds = Number(body.duration);
  return legacyOrder(body, path, (faults) => ({
    ...sizeOf(linesOf(resolution), body.aspect_ratio ?? faults.text('ratio') ?? '16:9'),
    seconds,
    images: 0,
    charge: rate * seconds * (body.sound === 'on' ? 2 : 1),
  }));
}

function legacyOrder(
  body: Pick<z.infer<typeof imageSchema>, 'model_name' | 'prompt' | 'callback_url' | 'external_task_id'>,
  path: string,
  render: (faults: FaultSet) => Omit<KlingDetail, 'path' | 'legacy' | 'externalId'>,
): KlingOrder {
  return {
    model: body.model_name ?? 'kling-v1',
    prompt: body.prompt,
    callbackUrl: body.callback_url,
    settle(name, faults) {
      if (!/^kling-(?:v\d|video-o\d|image-o\d)/.test(name)) throw noSuchModel;
      return { ...render(faults), path, legacy: true, externalId: body.external_task_id };
    },
  };
}
