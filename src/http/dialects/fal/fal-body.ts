import { z } from 'zod';
import { defined } from '../../../base/defined.ts';
import { isRecord, withoutNulls } from '../../body-fields.ts';
import { videoBodySchema } from '../../videos/video-body.ts';
import type { VideoBody } from '../../videos/video-body.ts';
import { flatImages, flatName, withMetadata } from '../flat-body.ts';
import type { FlatFrames, FlatNames } from '../flat-body.ts';
import type { TheirName } from '../their-words.ts';

const itemsMax = 64;
const media = z.string().min(1).optional();
const list = z.array(z.string().min(1)).max(itemsMax).optional();
const { prompt, duration, resolution, ratio, size } = videoBodySchema.shape;

/** Its models differ in the names of the last frame: all of them are known. */
export const falBody = z
  .preprocess(
    (body) => (isRecord(body) ? withoutNulls(body) : body),
    z.looseObject({
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
    }),
  )
  .meta({
    id: 'FalInput',
    description:
      'Every other field is one of `metadata` in `POST /v1/videos/generations`; what is not listed there is passed upstream unchanged.',
    examples: [{ prompt: 'A paper boat on a rainy street', duration: '5' }],
  });

export type FalInput = z.output<typeof falBody>;

/** The body of our own create. Throws GatewayError, which names our fields: see `falName`. */
export function decodeFal(asked: FalInput, model: string, webhook: string | undefined): VideoBody {
  const { prompt: text, duration: seconds, resolution: lines, aspect_ratio, size: pixels, ...others } = asked;
  const { image_url: _first, end_image_url: _last, tail_image_url: _tail, image_urls, ...further } = others;
  const { video_url, video_urls = [], audio_url, audio_urls = [], ...rest } = further;
  const output = { duration: seconds, resolution: lines, ratio: aspect_ratio, size: pixels };
  const given = {
    images: flatImages(framesOf(asked), image_urls),
    videos: [...(video_url === undefined ? [] : [video_url]), ...video_urls],
    audios: [...(audio_url === undefined ? [] : [audio_url]), ...audio_urls],
  };
  const metadata = { ...rest, ...defined({ callback_url: webhook }) };
  return withMetadata({ model, prompt: text, ...output, ...given }, metadata);
}

function framesOf({ image_url, end_image_url, tail_image_url }: FalInput): FlatFrames {
  return { firstFrame: image_url, lastFrame: end_image_url ?? tail_image_url };
}

const names: FlatNames = {
  model: 'model',
  callback: 'fal_webhook',
  prefix: '',
  firstFrame: 'image_url',
  lastFrame: 'end_image_url',
  images: 'image_urls',
  videos: 'video_urls',
  audios: 'audio_urls',
};

export function falName(asked: FalInput): TheirName {
  return flatName(names, framesOf(asked));
}
