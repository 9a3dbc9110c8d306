import { z } from 'zod';
import type { FaultSet } from '../fault.ts';
import { check, parseJson } from '../wire.ts';
import { invalidParams } from './minimax-error.ts';
import { h3Models, miniMaxSize } from './minimax-models.ts';
import type { H3Model } from './minimax-models.ts';

/** A create of v2. */

const bodyBytesMax = 64 * 1024 * 1024;
const promptMax = 7000;
const filesMax = 12;
const inputVideoSecondsDefault = 5;
const chosenRatio = '16:9';

const ratios = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'] as const;

/** An address, an uploaded file, or a data URL of a type whose format is written small. */
const address = (type: 'image' | 'video' | 'audio') =>
  z.strictObject({
    url: z
      .string()
      .regex(
        new RegExp(`^(?:https?://\\S+|mm_file://\\S+|data:${type}/[a-z0-9.+-]+;base64,[A-Za-z0-9+/]+=*)$`),
        'must be a url, a mm_file, or a data URL',
      ),
  });

const itemSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string().trim().min(1).max(promptMax) }),
  z.strictObject({
    type: z.literal('image_url'),
    image_url: address('image'),
    role: z.enum(['first_frame', 'last_frame', 'reference_image']).optional(),
  }),
  z.strictObject({
    type: z.literal('video_url'),
    video_url: address('video'),
    role: z.literal('reference_video'),
  }),
  z.strictObject({
    type: z.literal('audio_url'),
    audio_url: address('audio'),
    role: z.literal('reference_audio'),
  }),
]);

const bodySchema = z.strictObject({
  model: z.string(),
  content: z.array(itemSchema).min(1),
  resolution: z.string(),
  duration: z.int(),
  ratio: z.enum(['adaptive', ...ratios]).optional(),
  extra: z
    .strictObject({ prompt_expansion_mode: z.enum(['disabled', 'balanced', 'quality']).optional() })
    .optional(),
  callback_url: z.url().optional(),
  aigc_watermark: z.boolean().optional(),
});

export type MiniMaxBody = z.infer<typeof bodySchema>;

export const miniMaxDetail = z.object({
  resolution: z.string(),
  ratio: z.string(),
  width: z.number(),
  height: z.number(),
  seconds: z.number(),
  inputSeconds: z.number(),
  images: z.number(),
  audios: z.number(),
});
export type MiniMaxDetail = z.infer<typeof miniMaxDetail>;

/** @throws {MiniMaxError} 2013 */
export function readMiniMaxBody(raw: Buffer): MiniMaxBody {
  if (raw.length > bodyBytesMax) throw invalidParams('the body exceeds 64 MB');
  return check(bodySchema, parseJson(raw), ({ path, reason }) => invalidParams(`${path}: ${reason}`));
}

export function promptOf({ content }: MiniMaxBody): string {
  return content.find((item) => item.type === 'text')?.text ?? '';
}

/** @throws {MiniMaxError} 2013 */
export function settleMiniMax(body: MiniMaxBody, name: string, faults: FaultSet): MiniMaxDetail {
  const model = h3Models[name];
  if (model === undefined) throw invalidParams(`unknown model: ${name}`);
  const uses = countUses(body);
  const mistake = findContentMistake(uses) ?? findOutputMistake(body, model, uses);
  if (mistake !== undefined) throw invalidParams(mistake);
  const { resolution, duration } = body;
  const isOpen = uses.frames > 0 || body.ratio === undefined || body.ratio === 'adaptive';
  const reported = ratios.find((known) => known === faults.text('ratio'));
  const ratio = isOpen ? (reported ?? chosenRatio) : (body.ratio ?? chosenRatio);
  const [width, height] = miniMaxSize(resolution, ratio);
  return {
    resolution,
    ratio,
    width,
    height,
    seconds: duration,
    inputSeconds: faults.number('input-seconds') ?? uses.videos * inputVideoSecondsDefault,
    images: uses.images,
    audios: uses.audios,
  };
}

interface Uses {
  readonly texts: number;
  readonly first: number;
  readonly last: number;
  readonly frames: number;
  readonly references: number;
  readonly images: number;
  readonly videos: number;
  readonly audios: number;
}

/** An image without a role is the first frame if it is the only one. */
function countUses({ content }: MiniMaxBody): Uses {
  const images = content.filter((item) => item.type === 'image_url');
  const count = (type: string) => content.filter((item) => item.type === type).length;
  const role = (name: string) => images.filter((image) => image.role === name).length;
  const unnamed = images.filter((image) => image.role === undefined).length;
  if (unnamed > 0 && images.length > 1) throw invalidParams('content: every image needs a role');
  const first = role('first_frame') + unnamed;
  const last = role('last_frame');
  return {
    texts: count('text'),
    first,
    last,
    frames: first + last,
    references: role('reference_image'),
    images: images.length,
    videos: count('video_url'),
    audios: count('audio_url'),
  };
}

function findContentMistake(uses: Uses): string | undefined {
  const { texts, first, last, frames, references, images, videos, audios } = uses;
  if (texts !== 1) return 'content must hold exactly one text';
  if (first > 1 || last > 1) return 'content may hold one first_frame and one last_frame';
  if (frames > 0 && references + videos + audios > 0) return 'frames and references exclude each other';
  if (references > 9) return 'at most 9 reference images';
  if (videos > 3) return 'at most 3 reference videos';
  if (audios > 3) return 'at most 3 reference audios';
  if (references + videos + audios > filesMax) return `at most ${filesMax} files`;
  return audios > 0 && images + videos === 0 ? 'audio needs an image or a video beside it' : undefined;
}

function findOutputMistake(body: MiniMaxBody, model: H3Model, uses: Uses): string | undefined {
  const { resolution, duration, ratio, extra } = body;
  const [min, max] = model.seconds;
  if (!model.resolutions.includes(resolution)) return `resolution is not supported: ${resolution}`;
  if (duration < min || duration > max) return `duration is not supported: ${duration}`;
  if (extra !== undefined && !model.extra) return 'extra is not supported by the model';
  const isText = uses.images + uses.videos + uses.audios === 0;
  return isText && (ratio === undefined || ratio === 'adaptive')
    ? 'ratio is required without media, and not adaptive'
    : undefined;
}
