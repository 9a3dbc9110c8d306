import { z } from 'zod';
import { defined } from '../../../base/defined.ts';
import { GatewayError } from '../../../errors/errors.ts';
import { exampleModels } from '../../example-models.ts';
import { videoBodySchema } from '../../videos/video-body.ts';
import type { VideoBody } from '../../videos/video-body.ts';
import { withMetadata } from '../flat-body.ts';
import type { TheirName } from '../their-words.ts';

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
  input_references: z.array(reference).max(itemsMax).optional().meta({
    description: 'Ignored where there are `frame_images`.',
  }),
  generate_audio: z.boolean().optional(),
  seed: z.int().optional(),
  callback_url: z.string().optional(),
  metadata,
};

/** What would change the result, and what we cannot do. */
const refused = ['previous_job_id', 'upscale_factor', 'creativity'] as const;

export const openrouterCreateBody = z.looseObject(shape).meta({
  id: 'OpenrouterVideoRequest',
  examples: [{ model: exampleModels.video, prompt: 'A paper boat on a rainy street', duration: 5 }],
});

type OpenrouterBody = z.output<typeof openrouterCreateBody>;

export const openrouterCreateFields: ReadonlySet<string> = new Set(Object.keys(shape));

export interface DecodedOpenrouter {
  readonly body: VideoBody;
  /** Names of what the dialect itself ignores. */
  readonly ignored: readonly string[];
}

/** The body of our own create. Throws GatewayError, which names our fields: see `openrouterName`. */
export function decodeOpenrouter(asked: OpenrouterBody): DecodedOpenrouter {
  for (const param of refused) {
    if (asked[param] !== undefined)
      throw new GatewayError('unsupported_parameter', `The parameter ${param} is not supported.`, { param });
  }
  const { frame_images: frames = [], input_references: references = [] } = asked;
  const used = frames.length > 0 ? [] : references;
  const images = [
    ...frames.map(({ image_url, frame_type }) => ({ url: image_url.url, role: frame_type })),
    ...used.flatMap((each) =>
      each.type === 'image_url' ? [{ url: each.image_url.url, role: 'reference' as const }] : [],
    ),
  ];
  const { metadata: own, generate_audio, seed, callback_url } = asked;
  const fields = {
    model: asked.model,
    prompt: asked.prompt,
    duration: asked.duration,
    resolution: asked.resolution,
    ratio: asked.aspect_ratio,
    size: asked.size,
    images,
    videos: used.flatMap((each) => (each.type === 'video_url' ? [each.video_url.url] : [])),
    audios: used.flatMap((each) => (each.type === 'audio_url' ? [each.audio_url.url] : [])),
  };
  return {
    body: withMetadata(fields, { ...own, ...defined({ generate_audio, seed, callback_url }) }),
    ignored: frames.length > 0 && references.length > 0 ? ['input_references'] : [],
  };
}

/** `ratio` → `aspect_ratio`; a frame's and a reference's name depend on what was sent. */
export function openrouterName({ frame_images: frames = [] }: OpenrouterBody): TheirName {
  const list = frames.length > 0 ? 'frame_images' : 'input_references';
  return (ours) => {
    if (ours === 'ratio') return 'aspect_ratio';
    if (/^metadata\.(?:generate_audio|seed|callback_url)$/.test(ours)) return ours.slice('metadata.'.length);
    const [, index] = /^images(\[\d+\])?$/.exec(ours) ?? [];
    if (ours.startsWith('images')) return `${list}${frames.length > 0 ? (index ?? '') : ''}`;
    return /^(?:videos|audios|input_type)/.test(ours) ? list : ours;
  };
}
