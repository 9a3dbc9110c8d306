import { z } from 'zod';
import { namesOf, videoFields } from '../../../intake/names.ts';
import { exampleModels } from '../../example-models.ts';
import { videoBodySchema } from '../../videos/video-body.ts';

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

const { model, resolution, ratio, duration } = videoBodySchema.shape;

export const arkCreateBody = z
  .looseObject({ model, content: z.array(item).min(1).max(itemsMax), resolution, ratio, duration })
  .meta({
    id: 'ArkTaskRequest',
    description:
      'All other fields are those of `metadata` in `POST /v1/videos/generations`, such as `seed`, `generate_audio`, `watermark`, `return_last_frame`, `callback_url`, `execution_expires_after` and `safety_identifier`. Fields that are not listed there are passed upstream unchanged.',
    examples: [
      {
        model: exampleModels.video,
        content: [{ type: 'text', text: 'A paper boat on a rainy street' }],
        duration: 5,
      },
    ],
  });

export const arkNames = namesOf(
  { prefix: '', others: 'metadata', alone: 'first_frame' },
  {
    content: { parts: true },
    draft_task: { refused: 'is not supported, because the gateway does not know its media and price' },
  },
  ...videoFields,
);
