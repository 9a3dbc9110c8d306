import { isRecord } from '../../../base/is-record.ts';
import { z } from 'zod';
import { defined } from '../../../base/defined.ts';
import { GatewayError, invalidParameter } from '../../../errors/errors.ts';
import {
  audios,
  firstFrame,
  imageFields,
  lastFrame,
  namesOf,
  references,
  videoFields,
  videos,
} from '../../../intake/names.ts';
import type { Understood } from '../../../intake/understand.ts';
import { exampleModels } from '../../example-models.ts';
import type { TaskKind } from '../../../base/task-kind.ts';
import { understandImage } from '../../images/image-body.ts';
import { understandVideo, videoBodySchema } from '../../videos/video-body.ts';

const itemsMax = 64;
const media = z.string().min(1);
const list = z.array(media).max(itemsMax).optional();
const { model, prompt, duration, resolution, ratio, size } = videoBodySchema.shape;

const input = z.looseObject({
  prompt,
  duration,
  resolution,
  aspect_ratio: ratio,
  size,
  image: media.optional().meta({ description: 'The first frame.' }),
  last_frame_image: media.optional(),
  reference_images: list,
  reference_videos: list,
  reference_audios: list,
});

const webhook = z.string().optional().meta({ description: 'Equivalent to `metadata.callback_url`.' });
const shape = { input, webhook };
const example = { prompt: 'A paper boat on a rainy street', duration: 5 };

export const predictionBody = z.object({ ...shape, version: model }).meta({
  id: 'ReplicatePrediction',
  description:
    'All other fields of `input` are those of `metadata` in `POST /v1/videos/generations`. Fields that are not listed there are passed upstream unchanged.',
  examples: [{ version: exampleModels.video, input: example }],
});
export const modelPredictionBody = z.object(shape).meta({
  id: 'ReplicateModelPrediction',
  examples: [{ input: example }],
});

const outer = { version: 'model', webhook: 'metadata.callback_url', strict: 'strict' } as const;
const imageNames = namesOf({ prefix: 'input.', others: 'body', outer }, { num_outputs: 'n' }, imageFields);
const videoNames = namesOf(
  { prefix: 'input.', others: 'metadata', outer },
  {
    aspect_ratio: 'ratio',
    image: firstFrame,
    start_image: firstFrame,
    last_frame_image: lastFrame,
    reference_images: references,
    reference_videos: videos,
    reference_audios: audios,
  },
  ...videoFields,
);

export function understandPrediction(
  { input, ...outer }: Readonly<Record<string, unknown>>,
  kind: TaskKind,
  model?: string,
): Understood {
  if (!isRecord(input)) throw notAnObject(input);
  const inner = Object.entries(input).map(([name, value]) => [`input.${name}`, value] as const);
  const fields = { ...outer, ...Object.fromEntries(inner) };
  const fixed = defined({ model });
  return kind === 'image'
    ? understandImage(fields, imageNames, fixed)
    : understandVideo(fields, videoNames, fixed);
}

function notAnObject(input: unknown): GatewayError {
  return input === undefined
    ? new GatewayError('missing_parameter', 'The parameter input is required.', { param: 'input' })
    : invalidParameter('input', 'The parameter input must be an object.');
}
