import { z } from 'zod';
import type { ImageRole } from '../../../models/request.ts';
import { exampleModels } from '../../example-models.ts';
import { parseInput } from '../../validation.ts';
import { videoBodySchema } from '../../videos/video-body.ts';
import type { VideoBody } from '../../videos/video-body.ts';
import type { TheirName } from '../their-words.ts';

const itemsMax = 64;
const link = z.object({ url: z.string().min(1) });
const roles = ['first_frame', 'last_frame', 'reference_image'] as const;

const item = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.literal('text'), text: z.string() }),
    z.object({ type: z.literal('image_url'), image_url: link, role: z.enum(roles).nullish() }),
    z.object({ type: z.literal('video_url'), video_url: link, role: z.literal('reference_video').nullish() }),
    z.object({ type: z.literal('audio_url'), audio_url: link, role: z.literal('reference_audio').nullish() }),
  ],
  { error: 'must have the type text, image_url, video_url or audio_url' },
);

const { model, resolution, ratio, duration, metadata, prompt } = videoBodySchema.shape;

/** What the dialect says at the top level is `metadata` with us: read by its schema, and passed on by its rules. */
export const arkCreateBody = z
  .looseObject({ model, content: z.array(item).min(1).max(itemsMax), resolution, ratio, duration })
  .meta({
    id: 'ArkTaskRequest',
    description:
      'Every other field is one of `metadata` in `POST /v1/videos/generations`: `seed`, `generate_audio`, `watermark`, `return_last_frame`, `callback_url`, `execution_expires_after`, `safety_identifier`, …; what is not listed there is passed upstream unchanged.',
    examples: [
      {
        model: exampleModels.video,
        content: [{ type: 'text', text: 'A paper boat on a rainy street' }],
        duration: 5,
      },
    ],
  });

type ArkBody = z.output<typeof arkCreateBody>;

type Item = ArkBody['content'][number];

/** The body of our own create. Throws GatewayError, which names our fields: see `namesIn`. */
export function decodeArk(asked: ArkBody): VideoBody {
  const { content, model: name, resolution: lines, ratio: shape, duration: seconds, ...rest } = asked;
  const texts = content.flatMap((each) => (each.type === 'text' ? [each.text] : []));
  const wire = { prompt: texts.join('\n'), metadata: rest };
  const { body } = parseInput(fromParts, { params: {}, query: {}, body: wire });
  const output = { resolution: lines, ratio: shape, duration: seconds };
  return { ...body, model: name, ...output, ...mediaOf(content) };
}

const fromParts = z.object({ body: z.object({ prompt, metadata }) });

function mediaOf(content: readonly Item[]): Pick<VideoBody, 'images' | 'videos' | 'audios'> {
  const pictures = content.filter((each) => each.type === 'image_url');
  // As the only image it may leave its role out.
  const open = pictures.length === 1 ? 'first_frame' : undefined;
  return {
    images: pictures.map(({ image_url, role }) => ({ url: image_url.url, role: roleOf(role) ?? open })),
    videos: content.flatMap((each) => (each.type === 'video_url' ? [each.video_url.url] : [])),
    audios: content.flatMap((each) => (each.type === 'audio_url' ? [each.audio_url.url] : [])),
  };
}

function roleOf(role: (typeof roles)[number] | null | undefined): ImageRole | undefined {
  return role === 'reference_image' ? 'reference' : (role ?? undefined);
}

/** `images[1]` → `content[2].image_url`, `metadata.seed` → `seed`. */
export function namesIn(content: readonly Item[]): TheirName {
  return (ours) => {
    if (ours.startsWith('metadata.')) return ours.slice('metadata.'.length);
    const [, list = '', index] = /^(image|video|audio)s(?:\[(\d+)\])?$/.exec(ours) ?? [];
    if (list === '') return ['prompt', 'input_type', 'metadata'].includes(ours) ? 'content' : ours;
    if (index === undefined) return 'content';
    const places = content.flatMap(({ type }, at) => (type === `${list}_url` ? [at] : []));
    return `content[${places[Number(index)] ?? 0}].${list}_url`;
  };
}
