import { z } from 'zod';
import type { FaultSet } from '../fault.ts';
import { rendered } from '../job.ts';
import type { Size } from '../sizes.ts';
import { check } from '../wire.ts';
import { framesPerSecond } from '../world.ts';
import { refuseArk } from './ark-error.ts';

type Sizes = Readonly<Record<string, readonly (readonly [width: number, height: number])[]>>;

const ratios = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9'];
const resolutions = ['480p', '720p', '1080p', '4k'];
/** In the order of the ratios. What is billed follows from the pixels. */
const sizesOf1: Sizes = {
  '480p': [[864, 480], [736, 544], [640, 640], [544, 736], [480, 864], [960, 416]],
  '720p': [[1248, 704], [1120, 832], [960, 960], [832, 1120], [704, 1248], [1504, 640]],
  '1080p': [[1920, 1088], [1664, 1248], [1440, 1440], [1248, 1664], [1088, 1920], [2176, 928]],
}; // prettier-ignore
const sizesOf2: Sizes = {
  '480p': [[864, 496], [752, 560], [640, 640], [560, 752], [496, 864], [992, 432]],
  '720p': [[1280, 720], [1112, 834], [960, 960], [834, 1112], [720, 1280], [1470, 630]],
  '1080p': [[1920, 1080], [1664, 1248], [1440, 1440], [1248, 1664], [1080, 1920], [2206, 946]],
  '4k': [[3840, 2160], [3840, 2880], [3840, 3840], [2880, 3840], [2160, 3840], [3840, 1646]],
}; // prettier-ignore

/** What stands behind every private endpoint id here. */
const modelOfEndpoints = 'doubao-seedance-2-0-260128';

/** The model of a name or an endpoint id; undefined: there is none. */
export function arkModel(name: string): string | undefined {
  if (/^ep-[\w-]+$/.test(name)) return modelOfEndpoints;
  return /^(?:(?:doubao|dreamina)-)?seedance-\d-\d-[\w-]+$/.test(name) ? name : undefined;
}

const image = /^(?:https?:\/\/.|asset:\/\/.|data:image\/[a-z]+;base64,[A-Za-z0-9+/])/;
const address = (pattern: RegExp) => z.object({ url: z.string().regex(pattern, 'not a URL or data URL') });
const web = address(/^(?:https?|asset):\/\/./);
const item = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('image_url'),
    image_url: address(image),
    role: z.enum(['first_frame', 'last_frame', 'reference_image']).optional(),
  }),
  z.object({ type: z.literal('video_url'), video_url: web, role: z.literal('reference_video') }),
  z.object({ type: z.literal('audio_url'), audio_url: z.object({ url: z.string() }), role: z.literal('reference_audio') }),
]); // prettier-ignore
const bodySchema = z.object({
  content: z.array(item).min(1),
  callback_url: z.url({ protocol: /^https?$/ }).optional(),
  return_last_frame: z.boolean().default(false),
  service_tier: z.enum(['default', 'flex']).default('default'),
  execution_expires_after: z.int().min(3600).max(259_200).default(172_800),
  priority: z.int().min(0).max(9).optional(),
  generate_audio: z.boolean().default(true),
  draft: z.boolean().default(false),
  camera_fixed: z.boolean().optional(),
  watermark: z.boolean().optional(),
  seed: z.int().min(-1).max(4_294_967_295).default(-1),
  resolution: z.enum(resolutions).optional(),
  ratio: z.enum([...ratios, 'adaptive']).default('adaptive'),
  duration: z.int().default(5),
  frames: z.int().min(29).max(289).optional(),
  tools: z.array(z.object({ type: z.literal('web_search') })).optional(),
  safety_identifier: z.string().max(64).optional(),
});
type ArkBody = z.infer<typeof bodySchema>;

/** What a task renders, every choice made. */
export const arkDetail = z.object({
  ...rendered,
  /** The model or endpoint id as it was asked for. */
  endpoint: z.string(),
  resolution: z.string(),
  ratio: z.string(),
  frames: z.number().optional(),
  tokens: z.number(),
  seed: z.number(),
  lastFrame: z.boolean(),
  tier: z.string(),
  audio: z.boolean().optional(),
  draft: z.boolean().optional(),
  priority: z.number().optional(),
  webSearch: z.boolean(),
  safetyIdentifier: z.string().optional(),
});
export type ArkDetail = z.infer<typeof arkDetail>;

/**
 * Known fields are validated strictly, unknown ones ignored, and so is null: the vendor's SDK for Python sends it for each
 * field that its caller leaves out. @throws {WireError} 400 that names the field.
 */
export function readArkBody(body: unknown): ArkBody {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  const said = isObject
    ? Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
    : body;
  return check(bodySchema, said, refuseArk);
}

/** Makes the choices that were left to the model. */
export function settleArk(
  body: ArkBody,
  { model, endpoint }: { readonly model: string; readonly endpoint: string },
  faults: FaultSet,
): ArkDetail {
  const isFirst = model.includes('seedance-1-0');
  const isLarge = model.includes('seedance-1-0-pro');
  const resolution = body.draft ? '480p' : (body.resolution ?? (isLarge ? '1080p' : '720p'));
  const ratio = body.ratio === 'adaptive' ? (faults.text('ratio') ?? '16:9') : body.ratio;
  const asked = body.duration === -1 ? (faults.number('duration') ?? 5) : body.duration;
  const frames = isFirst ? body.frames : undefined;
  const seconds = frames === undefined ? asked : frames / framesPerSecond;
  const size = pixelsOf(isFirst ? sizesOf1 : sizesOf2, resolution, ratio);
  // Models 1.x read no videos: nothing is billed for them.
  const read = model.includes('seedance-1-') ? 0 : (faults.number('input-seconds') ?? inputSeconds(body));
  const random = Math.floor(Math.random() * 4_294_967_296);
  return {
    ...size,
    seconds,
    images: 0,
    endpoint,
    resolution,
    ratio,
    frames,
    tokens: tokensOf(size, frames ?? 24 * seconds + 1, read),
    seed: body.seed === -1 ? random : body.seed,
    lastFrame: body.return_last_frame,
    tier: body.service_tier,
    audio: isFirst ? undefined : body.generate_audio,
    draft: isFirst ? undefined : body.draft,
    priority: body.priority ?? (isFirst ? undefined : 0),
    webSearch: body.tools !== undefined && body.tools.length > 0,
    safetyIdentifier: body.safety_identifier,
  };
}

function pixelsOf(sizes: Sizes, resolution: string, ratio: string): Size {
  const [width, height] = sizes[resolution]?.[ratios.indexOf(ratio)] ?? [1280, 720];
  return { width, height };
}

/** The observed formula: one frame more than the documented one. */
function tokensOf({ width, height }: Size, frames: number, secondsOfInput: number): number {
  return Math.floor((width * height * (frames + 24 * secondsOfInput)) / 1024);
}

/** Nothing is fetched here: only the length of the simulator's own videos is known, from their links. */
function inputSeconds({ content }: ArkBody): number {
  const urls = content.flatMap((each) => (each.type === 'video_url' ? [each.video_url.url] : []));
  return urls.reduce((sum, url) => {
    const frames = /\/media\/\d+x\d+-(\d+)-\d-\d+\//.exec(url)?.[1];
    return sum + (frames === undefined ? 5 : Number(frames) / framesPerSecond);
  }, 0);
}
