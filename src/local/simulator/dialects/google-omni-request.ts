import { z } from 'zod';
import { check, parseJson } from '../wire.ts';
import { googleProblems, InteractionError } from './google-error.ts';
import { omniModels, videoSize } from './google-models.ts';
import type { GoogleDetail } from './google-models.ts';

/** The body of an interaction: closed objects. */

const base64 = z.string().regex(/^[A-Za-z0-9+/]+=*$/, 'must be base64');
const medium = {
  data: base64.optional(),
  uri: z
    .string()
    .regex(/^(?:https?|gs):\/\/\S+$/, 'must be a URI')
    .optional(),
  mime_type: z.string().regex(/^(?:image|video)\/[\w.+-]+$/),
};
const partSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string().min(1) }),
  z.strictObject({ type: z.literal('image'), ...medium }),
  z.strictObject({ type: z.literal('video'), ...medium }),
]);
const tasks = ['text_to_video', 'image_to_video', 'reference_to_video', 'edit', 'extend', 'upscale'] as const;
const labelKey = /^[a-z][a-z0-9_-]{0,62}$/;
const labelValue = /^[a-z0-9_-]{0,63}$/;
const bodySchema = z.strictObject({
  model: z.string().min(1),
  input: z.union([z.string().min(1), z.array(partSchema).min(1)]),
  background: z.boolean().default(false),
  store: z.boolean().default(true),
  response_format: z
    .strictObject({
      type: z.literal('video'),
      delivery: z.enum(['uri', 'inline']).default('inline'),
      gcs_uri: z.string().startsWith('gs://').optional(),
      aspect_ratio: z.enum(['16:9', '9:16']).default('16:9'),
      resolution: z.enum(['360p', '720p', '1080p', '4k']).default('720p'),
      duration: z
        .string()
        .regex(/^\d+(?:\.\d+)?s$/, 'must be a duration like "5s"')
        .optional(),
    })
    .optional(),
  generation_config: z
    .strictObject({ video_config: z.strictObject({ task: z.enum(tasks).optional() }).optional() })
    .optional(),
  previous_interaction_id: z.string().optional(),
  labels: z.record(z.string().regex(labelKey), z.string().regex(labelValue)).optional(),
  webhook_config: z
    .strictObject({
      uris: z.array(z.url()).min(1),
      user_metadata: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
  service_tier: z.enum(['standard', 'flex', 'priority', 'deferred']).optional(),
});

type Body = z.infer<typeof bodySchema>;
export type OmniBody = Omit<Body, 'input'> & {
  readonly parts: readonly z.infer<typeof partSchema>[];
  readonly prompt: string;
};

/** @throws {InteractionError} */
export function readOmniBody(raw: Buffer): OmniBody {
  const { input, ...body } = check(
    bodySchema,
    parseJson(raw),
    ({ path, reason }) => new InteractionError(`Invalid value at '${path}': ${reason}`),
  );
  const parts = typeof input === 'string' ? [{ type: 'text' as const, text: input }] : input;
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return { ...body, parts, prompt: texts.join('\n') };
}

const tokensPerSecond: Readonly<Record<string, number>> = {
  '360p': 2900,
  '720p': 5800,
  '1080p': 11_600,
  '4k': 23_200,
};
const charactersPerToken = 4;
const tokensPerImage = 258;

export interface OmniPlace {
  readonly model: string;
  readonly id: string;
  readonly vertex: boolean;
  /** Whether an earlier interaction of this id can be continued. */
  readonly isKnown: (id: string) => boolean;
}

/** @throws {InteractionError | GoogleError} 404 for a model that does not exist. */
export function settleOmni(body: OmniBody, place: OmniPlace): GoogleDetail {
  const secondsMax = omniModels[place.model];
  if (secondsMax === undefined) throw googleProblems['not-found'];
  const mistake = findFormMistake(body, place, secondsMax) ?? findInputMistake(body, place);
  if (mistake !== undefined) throw new InteractionError(mistake);
  const { response_format: format, labels, service_tier: tier, webhook_config: webhook } = body;
  const {
    resolution = '720p',
    aspect_ratio: ratio = '16:9',
    delivery = 'inline',
    gcs_uri: bucket,
  } = format ?? {};
  const seconds = secondsOf(format?.duration);
  const input =
    Math.ceil(body.prompt.length / charactersPerToken) + count(body, 'image', 'video') * tokensPerImage;
  return {
    api: 'omni',
    name: place.id,
    ...videoSize(resolution, ratio),
    seconds,
    samples: 1,
    tokens: [input, Math.round(seconds * (tokensPerSecond[resolution] ?? 0))],
    delivery: delivery === 'uri' && bucket !== undefined ? 'bucket' : delivery,
    bucket,
    tier,
    labels,
    userMetadata: webhook?.user_metadata,
  };
}

function secondsOf(duration = '8s'): number {
  return Number(duration.slice(0, -1));
}

function count({ parts }: OmniBody, ...types: readonly string[]): number {
  return parts.filter(({ type }) => types.includes(type)).length;
}

function findFormMistake(body: OmniBody, { vertex }: OmniPlace, secondsMax: number): string | undefined {
  const { response_format: format, background, store } = body;
  const seconds = secondsOf(format?.duration);
  if (background && !store) return 'background needs store';
  if (seconds < 3 || seconds > secondsMax) return `duration must be from 3s to ${secondsMax}s`;
  if (vertex && format?.delivery === 'uri' && format.gcs_uri === undefined) return 'gcs_uri is required';
  return !vertex && format?.gcs_uri !== undefined ? 'gcs_uri is not supported' : undefined;
}

function findInputMistake(body: OmniBody, { vertex, isKnown }: OmniPlace): string | undefined {
  const [images, videos] = [count(body, 'image'), count(body, 'video')];
  const task = body.generation_config?.video_config?.task;
  const earlier = body.previous_interaction_id;
  if (body.prompt === '') return 'input must have a text';
  for (const part of body.parts)
    if (part.type !== 'text' && (part.data === undefined) === (part.uri === undefined))
      return `a part of type ${part.type} must have either data or uri`;
  if (images > (vertex ? 10 : 7)) return 'too many images';
  if (videos > 1) return 'at most one video';
  if (earlier !== undefined && !isKnown(earlier)) return `Invalid interaction name: ${earlier}`;
  const hasClip = videos > 0 || earlier !== undefined;
  const fits: Readonly<Record<(typeof tasks)[number], boolean>> = {
    text_to_video: images + videos === 0,
    image_to_video: images > 0 && videos === 0,
    reference_to_video: images + videos > 0,
    edit: hasClip,
    extend: hasClip,
    upscale: hasClip,
  };
  return task !== undefined && !fits[task] ? `the input does not fit the task ${task}` : undefined;
}
