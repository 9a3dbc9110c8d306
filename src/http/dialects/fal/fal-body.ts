import { z } from 'zod';
import { defined } from '../../../base/defined.ts';
import { isRecord } from '../../../base/is-record.ts';
import {
  firstFrame,
  imageFields,
  lastFrame,
  namesOf,
  references,
  videoFields,
} from '../../../intake/names.ts';
import type { Understood } from '../../../intake/understand.ts';
import type { TaskKind } from '../../../base/task-kind.ts';
import { understandImage } from '../../images/image-body.ts';
import { understandVideo, videoBodySchema } from '../../videos/video-body.ts';

const itemsMax = 64;
const media = z.string().min(1).optional();
const list = z.array(z.string().min(1)).max(itemsMax).optional();
const { prompt, duration, resolution, ratio, size } = videoBodySchema.shape;

/** The name of the last frame differs between fal's models, so all of them are accepted. */
export const falBody = z
  .looseObject({
    prompt,
    duration,
    resolution,
    aspect_ratio: ratio,
    size,
    image_url: media.meta({ description: 'The first frame.' }),
    end_image_url: media.meta({ description: 'The last frame. `tail_image_url` is an alias.' }),
    tail_image_url: media,
    image_urls: list.meta({ description: 'References.' }),
    video_url: media,
    video_urls: list,
    audio_url: media,
    audio_urls: list,
  })
  .meta({
    id: 'FalInput',
    description:
      'All other fields are those of `metadata` in `POST /v1/videos/generations`. Fields that are not listed there are passed upstream unchanged.',
    examples: [{ prompt: 'A paper boat on a rainy street', duration: '5' }],
  });

const outer = { fal_webhook: 'metadata.callback_url' } as const;
const videoNames = namesOf(
  { prefix: '', others: 'metadata', outer },
  {
    aspect_ratio: 'ratio',
    image_url: firstFrame,
    end_image_url: lastFrame,
    tail_image_url: lastFrame,
    image_urls: references,
  },
  ...videoFields,
);
const imageNames = namesOf({ prefix: '', others: 'body', outer }, { image_size: 'size' }, imageFields);

export function understandFal(
  body: Readonly<Record<string, unknown>>,
  kind: TaskKind,
  { model, webhook }: { readonly model: string; readonly webhook: string | undefined },
): Understood {
  const sent = { ...body, ...defined({ fal_webhook: webhook }) };
  if (kind === 'video') return understandVideo(sent, videoNames, { model });
  const image_size = sizeOf(body['image_size']);
  return understandImage({ ...sent, ...defined({ image_size }) }, imageNames, { model });
}

/** Source: `ImageSize` and the enum next to it in @fal-ai/client 1.10.1, `types/endpoints.d.ts`. */
const sizes = new Map<unknown, string>([
  ['square_hd', '1024x1024'],
  ['square', '512x512'],
  ['portrait_4_3', '768x1024'],
  ['portrait_16_9', '576x1024'],
  ['landscape_4_3', '1024x768'],
  ['landscape_16_9', '1024x576'],
]);

function sizeOf(asked: unknown): unknown {
  if (!isRecord(asked)) return sizes.get(asked) ?? asked;
  const { width, height } = asked;
  return `${String(width)}x${String(height)}`;
}
