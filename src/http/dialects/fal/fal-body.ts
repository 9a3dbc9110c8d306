import { z } from 'zod';
import { defined } from '../../../base/defined.ts';
import { firstFrame, lastFrame, namesOf, references, videoFields } from '../../../intake/names.ts';
import type { Understood } from '../../../intake/understand.ts';
import { understandVideo, videoBodySchema } from '../../videos/video-body.ts';

const itemsMax = 64;
const media = z.string().min(1).optional();
const list = z.array(z.string().min(1)).max(itemsMax).optional();
const { prompt, duration, resolution, ratio, size } = videoBodySchema.shape;

/** Its models differ in the names of the last frame: all of them are known. */
export const falBody = z
  .looseObject({
    prompt,
    duration,
    resolution,
    aspect_ratio: ratio,
    size,
    image_url: media.meta({ description: 'The first frame.' }),
    end_image_url: media.meta({ description: 'The last frame, also as `tail_image_url`.' }),
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
      'Every other field is one of `metadata` in `POST /v1/videos/generations`; what is not listed there is passed upstream unchanged.',
    examples: [{ prompt: 'A paper boat on a rainy street', duration: '5' }],
  });

const names = namesOf(
  { prefix: '', others: 'metadata', outer: { fal_webhook: 'metadata.callback_url' } },
  {
    aspect_ratio: 'ratio',
    image_url: firstFrame,
    end_image_url: lastFrame,
    tail_image_url: lastFrame,
    image_urls: references,
  },
  ...videoFields,
);

/** Throws GatewayError. */
export function understandFal(
  body: Readonly<Record<string, unknown>>,
  { model, webhook }: { readonly model: string; readonly webhook: string | undefined },
): Understood {
  return understandVideo({ ...body, ...defined({ fal_webhook: webhook }) }, names, { model });
}
