import { z } from 'zod';
import type { FaultSet } from '../fault.ts';
import { check } from '../wire.ts';
import { extraField, notValid } from './bfl-error.ts';
import { areaSize, bflImageResolutions, bflVideoRate, bflVideoSize, videoRatios } from './bfl-models.ts';
import type { BflDetail } from './bfl-models.ts';
import { absent, bareMedia, wrong } from './bfl-request.ts';

/** FLUX 3: a field that the schema does not have is an error. */

/** What `auto` renders, unless a fault says otherwise. */
const automatic = { seconds: 8, ratio: '16:9' } as const;

const forbidden = z.undefined({ error: extraField });
const tolerance = z.int().min(0).max(4).optional();
const imageRatios = ['auto', '21:9', '2:1', '16:9', '3:2', '7:5', '4:3', '5:4', '1:1', '4:5', '3:4', '5:7', '2:3', '9:16', '1:2', '9:21']; // prettier-ignore

const imageSchema = z
  .object({
    prompt: z.string().min(1),
    images: z.array(bareMedia).min(1).max(10).optional(),
    aspect_ratio: z.enum(imageRatios).default('auto'),
    resolution: z.enum(Object.keys(bflImageResolutions)).default('1k'),
    grounding: z.boolean().optional(),
    safety_tolerance: tolerance,
    version: z.string().optional(),
  })
  .catchall(forbidden);

const common = { safety_tolerance: tolerance, user: z.string().min(1).max(256).optional() };
const resolutions = ['hd', 'fhd', 'qhd', 'uhd'];
const rendered = {
  ...common,
  prompt: z.string().min(1),
  duration: z.union([z.int().min(5).max(20), z.literal('auto')]).default('auto'),
  aspect_ratio: z.enum(['auto', ...videoRatios]).default('auto'),
  resolution: z.enum(resolutions).default('hd'),
  generate_audio: z.boolean().optional(),
  draft: z.boolean().default(false),
  version: z.literal('latest').optional(),
};
const keyframes = z.union([
  bareMedia,
  z.array(bareMedia).min(1).max(10),
  z.array(z.tuple([z.number().min(0), bareMedia])).min(1).max(10),
]); // prettier-ignore

const modes = {
  t2v: z.object({ mode: z.string(), ...rendered }).catchall(forbidden),
  i2v: z.object({ mode: z.string(), ...rendered, keyframes }).catchall(forbidden),
  v2v: z.object({ mode: z.string(), ...rendered, start_video: bareMedia }).catchall(forbidden),
  draft_enhance: z
    .object({ mode: z.string(), ...common, draft_cache: bareMedia, resolution: z.enum(resolutions).default('fhd') })
    .catchall(forbidden),
}; // prettier-ignore
const longNames: Readonly<Record<string, keyof typeof modes>> = {
  't2v': 't2v',
  'i2v': 'i2v',
  'v2v': 'v2v',
  'draft_enhance': 'draft_enhance',
  'text-to-video': 't2v',
  'image-continuation': 'i2v',
  'video-continuation': 'v2v',
  'draft-enhance': 'draft_enhance',
}; // prettier-ignore

/** @throws {BflError} 422 */
export function settleFlux3Image(raw: unknown, faults: FaultSet): BflDetail {
  const body = check(imageSchema, raw, notValid);
  const [side, cost] = bflImageResolutions[body.resolution] ?? [1024, 480];
  const isAutomatic = body.aspect_ratio === 'auto';
  const ratio = isAutomatic ? (faults.text('ratio') ?? '1:1') : body.aspect_ratio;
  const inputMegapixels = body.images?.length ?? 0;
  return {
    ...third,
    ...areaSize(side * side, ratio),
    kind: 'image',
    cost,
    pricedLater: isAutomatic && inputMegapixels > 0,
    inputMegapixels,
  };
}

/** @throws {BflError} 422 */
export function settleFlux3Video(raw: unknown, faults: FaultSet): BflDetail {
  const named = z.looseObject({ mode: z.string().optional() }).safeParse(raw).data?.mode;
  if (named === undefined) throw absent('mode');
  const mode = longNames[named];
  if (mode === undefined) throw wrong('mode', `Input should be one of ${Object.keys(modes).join(', ')}`);
  if (mode === 'draft_enhance') {
    const { resolution } = check(modes.draft_enhance, raw, notValid);
    return video(resolution, { ...automatic, draft: false, fromVideo: false, pricedLater: true });
  }
  const body = check(modes[mode], raw, notValid);
  if (body.draft && body.resolution !== 'hd') throw wrong('resolution', 'A draft is rendered in hd only');
  if (mode === 'v2v' && typeof body.duration === 'number' && body.duration > 15)
    throw wrong('duration', 'Input should be less than or equal to 15');
  if (mode === 'i2v') checkKeyframes(keyframes.parse(body['keyframes']), body.duration);
  const isAutomatic = body.duration === 'auto';
  const seconds = body.duration === 'auto' ? (faults.number('duration') ?? automatic.seconds) : body.duration;
  const ratio = body.aspect_ratio === 'auto' ? (faults.text('ratio') ?? automatic.ratio) : body.aspect_ratio;
  return video(body.resolution, {
    seconds,
    ratio,
    draft: body.draft,
    fromVideo: mode === 'v2v',
    pricedLater: isAutomatic,
  });
}

const third = {
  third: true,
  seconds: 0,
  format: 'png',
  pricedLater: false,
  inputMegapixels: 0,
  draft: false,
} as const;

interface Look {
  readonly seconds: number;
  readonly ratio: string;
  readonly draft: boolean;
  readonly fromVideo: boolean;
  readonly pricedLater: boolean;
}

function video(resolution: string, { seconds, ratio, draft, fromVideo, pricedLater }: Look): BflDetail {
  return {
    ...third,
    ...bflVideoSize(resolution, ratio),
    kind: 'video',
    seconds,
    cost: bflVideoRate(resolution, fromVideo, draft) * Math.ceil(seconds),
    pricedLater,
    draft,
  };
}

/** Times must rise; without them, three and more need a length over which they are spread. */
function checkKeyframes(frames: z.infer<typeof keyframes>, duration: number | 'auto'): void {
  if (typeof frames === 'string') return;
  const times = frames.flatMap((frame) => (typeof frame === 'string' ? [] : [frame[0]]));
  if (times.length === 0 && frames.length > 2 && duration === 'auto')
    throw wrong('duration', 'Three or more keyframes need a numeric duration');
  if (times.some((time, index) => index > 0 && time <= (times[index - 1] ?? 0)))
    throw wrong('keyframes', 'Keyframes must be in time order');
  if (times.some((time) => duration !== 'auto' && time > duration))
    throw wrong('keyframes', 'A keyframe lies after the end');
}
