import { z } from 'zod';
import { exampleModels } from '../../example-models.ts';
import { videoBodySchema } from '../../videos/video-body.ts';
import { namesOf, videoFields } from '../../../intake/names.ts';

const itemsMax = 64;
const link = z.object({ url: z.string().min(1) });
const frame = z.object({
  type: z.literal('image_url'),
  image_url: link,
  frame_type: z.enum(['first_frame', 'last_frame']),
});
const reference = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.literal('image_url'), image_url: link }),
    z.object({ type: z.literal('video_url'), video_url: link }),
    z.object({ type: z.literal('audio_url'), audio_url: link }),
  ],
  { error: 'must have the type image_url, video_url or audio_url' },
);

const { model, prompt, resolution, ratio, size, duration, metadata } = videoBodySchema.shape;

const shape = {
  model,
  prompt,
  duration,
  resolution,
  aspect_ratio: ratio,
  size,
  frame_images: z.array(frame).max(itemsMax).optional(),
  input_references: z.array(reference).max(itemsMax).optional(),
  generate_audio: z.boolean().optional(),
  seed: z.int().optional(),
  callback_url: z.string().optional(),
  metadata,
};

export const openrouterCreateBody = z.looseObject(shape).meta({
  id: 'OpenrouterVideoRequest',
  examples: [{ model: exampleModels.video, prompt: 'A paper boat on a rainy street', duration: 5 }],
});

const refused = 'is not supported';

export const openrouterNames = namesOf(
  { prefix: '' },
  {
    // Ignoring these fields would change the result, so they are rejected.
    previous_job_id: { refused },
    upscale_factor: { refused },
    creativity: { refused },
    aspect_ratio: 'ratio',
  },
  ...videoFields,
);
