import { z } from 'zod';
import { defined } from '../../../base/defined.ts';
import { withoutNulls } from '../../body-fields.ts';
import { exampleModels } from '../../example-models.ts';
import { videoBodySchema } from '../../videos/video-body.ts';
import type { VideoBody } from '../../videos/video-body.ts';
import { flatImages, flatName, withMetadata } from '../flat-body.ts';
import type { FlatNames } from '../flat-body.ts';
import type { TheirName } from '../their-words.ts';

const itemsMax = 64;
const media = z.string().min(1);
const list = z.array(media).max(itemsMax).optional();
const { model, prompt, duration, resolution, ratio, size } = videoBodySchema.shape;

const input = z
  .record(z.string(), z.unknown())
  .transform((fields) => withoutNulls(fields))
  .pipe(
    z.looseObject({
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
    }),
  );

const webhook = z.string().optional().meta({ description: 'Our `metadata.callback_url`.' });
const shape = { input, webhook };
const example = { prompt: 'A paper boat on a rainy street', duration: 5 };

export const predictionBody = z.object({ ...shape, version: model }).meta({
  id: 'ReplicatePrediction',
  description:
    'Every other field of `input` is one of `metadata` in `POST /v1/videos/generations`; what is not listed there is passed upstream unchanged.',
  examples: [{ version: exampleModels.video, input: example }],
});
export const modelPredictionBody = z.object(shape).meta({
  id: 'ReplicateModelPrediction',
  examples: [{ input: example }],
});

export const predictionFields: ReadonlySet<string> = new Set([...Object.keys(shape), 'version']);

type PredictionBody = z.output<typeof modelPredictionBody>;

/** The body of our own create. Throws GatewayError, which names our fields: see `replicateName`. */
export function decodePrediction({ input: asked, webhook: url }: PredictionBody, name: string): VideoBody {
  const { aspect_ratio, image, last_frame_image, reference_images, ...others } = asked;
  const { prompt: text, duration: seconds, resolution: lines, size: pixels, ...further } = others;
  const { reference_videos, reference_audios, ...rest } = further;
  const output = { duration: seconds, resolution: lines, ratio: aspect_ratio, size: pixels };
  const images = flatImages({ firstFrame: image, lastFrame: last_frame_image }, reference_images);
  const given = { images, videos: reference_videos, audios: reference_audios };
  const metadata = { ...rest, ...defined({ callback_url: url }) };
  return withMetadata({ model: name, prompt: text, ...output, ...given }, metadata);
}

const names: FlatNames = {
  model: 'version',
  callback: 'webhook',
  prefix: 'input.',
  firstFrame: 'image',
  lastFrame: 'last_frame_image',
  images: 'reference_images',
  videos: 'reference_videos',
  audios: 'reference_audios',
};

export function replicateName({ input: { image, last_frame_image } }: PredictionBody): TheirName {
  return flatName(names, { firstFrame: image, lastFrame: last_frame_image });
}
