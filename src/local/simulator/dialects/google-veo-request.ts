import { z } from 'zod';
import { check, parseJson } from '../wire.ts';
import { GoogleError, googleProblems, invalid, invalidArgument } from './google-error.ts';
import { veoModels, videoSize } from './google-models.ts';
import type { GoogleDetail } from './google-models.ts';

/** `predictLongRunning`: closed objects, which differ between the two APIs. */

const mimeType = z.string().min(1);
const base64 = z.string().regex(/^[A-Za-z0-9+/]+=*$/, 'must be base64');
const bucketUri = z.string().startsWith('gs://');
const bytesForm = z.strictObject({ bytesBase64Encoded: base64, mimeType });
const bucketForm = z.strictObject({ gcsUri: bucketUri, mimeType });
const image = {
  // Both forms are in use.
  gemini: z.union([bytesForm, z.strictObject({ inlineData: z.strictObject({ mimeType, data: base64 }) })]),
  vertex: z.union([bytesForm, bucketForm]),
};
const video = {
  gemini: z.union([bytesForm, z.strictObject({ uri: z.url(), mimeType: mimeType.optional() })]),
  vertex: z.union([bytesForm, bucketForm]),
};
const parameters = {
  durationSeconds: z.union([z.literal(4), z.literal(6), z.literal(8)]).default(8),
  aspectRatio: z.enum(['16:9', '9:16']).default('16:9'),
  resolution: z.enum(['720p', '1080p', '4k']).default('720p'),
  negativePrompt: z.string().optional(),
  personGeneration: z.enum(['dont_allow', 'allow_adult', 'allow_all']).optional(),
  enhancePrompt: z.boolean().optional(),
};
const vertexOnly = {
  seed: z.int().min(0).max(4_294_967_295).optional(),
  generateAudio: z.boolean().optional(),
  storageUri: bucketUri.optional(),
  compressionQuality: z.enum(['optimized', 'lossless']).optional(),
  fps: z.int().optional(),
  pubsubTopic: z.string().optional(),
  resizeMode: z.enum(['pad', 'crop']).optional(),
};

function instances(api: 'gemini' | 'vertex') {
  const reference = z.strictObject({ image: image[api], referenceType: z.literal('asset') });
  const instance = z.strictObject({
    prompt: z.string().min(1).optional(),
    image: image[api].optional(),
    lastFrame: image[api].optional(),
    referenceImages: z.array(reference).max(3).default([]),
    video: video[api].optional(),
  });
  return z.tuple([instance]);
}

const schemas = {
  gemini: z.strictObject({
    instances: instances('gemini'),
    parameters: z.strictObject({ ...parameters, sampleCount: z.literal(1).default(1) }).prefault({}),
    webhookConfig: z
      .strictObject({
        uris: z.array(z.url()).min(1),
        userMetadata: z.record(z.string(), z.unknown()).optional(),
      })
      .optional(),
  }),
  vertex: z.strictObject({
    instances: instances('vertex'),
    parameters: z
      .strictObject({ ...parameters, ...vertexOnly, sampleCount: z.int().min(1).max(4).default(1) })
      .prefault({}),
    labels: z.record(z.string(), z.string()).optional(),
  }),
};

export interface VeoBody {
  readonly prompt: string;
  readonly callbackUrl: string | undefined;
  readonly userMetadata: unknown;
  readonly bucket: string | undefined;
  readonly parameters: z.infer<typeof schemas.vertex>['parameters'];
}

type Wire = z.infer<typeof schemas.gemini> | z.infer<typeof schemas.vertex>;

/** @throws {GoogleError} INVALID_ARGUMENT */
export function readVeoBody(raw: Buffer, api: 'gemini' | 'vertex'): VeoBody {
  const body = check<Wire>(schemas[api], parseJson(raw), invalidArgument);
  const mistake = findMistake(body);
  if (mistake !== undefined) throw new GoogleError(invalid, mistake);
  const webhook = 'webhookConfig' in body ? body.webhookConfig : undefined;
  const { parameters: asked } = body;
  return {
    prompt: body.instances[0].prompt ?? '',
    callbackUrl: webhook?.uris[0],
    userMetadata: webhook?.userMetadata,
    bucket: 'storageUri' in asked ? asked.storageUri : undefined,
    parameters: asked,
  };
}

function findMistake({ instances: [instance] }: Wire): string | undefined {
  const { prompt, image: first, lastFrame: last, referenceImages: references, video: source } = instance;
  if ((prompt ?? first ?? source) === undefined) return 'prompt is required';
  if (last !== undefined && first === undefined) return 'lastFrame needs an image';
  if (first !== undefined && source !== undefined) return 'image cannot be combined with video';
  if (references.length > 0 && (first ?? source) !== undefined)
    return 'referenceImages cannot be combined with image or video';
  return undefined;
}

/** @throws {GoogleError} NOT_FOUND for a model that the API does not have. */
export function settleVeo(
  body: VeoBody,
  model: string,
  { api, name }: { readonly api: 'gemini' | 'vertex'; readonly name: string },
): GoogleDetail {
  if (!veoModels[api].some((known) => known === model)) throw googleProblems['not-found'];
  const { resolution, aspectRatio, durationSeconds, sampleCount } = body.parameters;
  return {
    api: 'veo',
    name,
    ...videoSize(resolution, aspectRatio),
    seconds: durationSeconds,
    samples: sampleCount,
    delivery: api === 'gemini' ? 'uri' : body.bucket === undefined ? 'inline' : 'bucket',
    bucket: body.bucket,
    userMetadata: body.userMetadata,
  };
}
