import { z } from 'zod';
import { defined } from '../../../base/defined.ts';
import type { Fixture } from '../../../models/vendor-file.ts';
import type { GenerationRequest, JsonValue } from '../../../models/request.ts';

const text = z.string();
const json: z.ZodType<JsonValue> = z.json();
const metadata = z.record(z.string(), json).default({});

const videoSchema = z
  .strictObject({
    prompt: text.default(''),
    mode: text.optional(),
    resolution: text.optional(),
    ratio: text.optional(),
    duration: z.union([z.number(), z.literal('auto')]).optional(),
    draft: z.boolean().optional(),
    generate_audio: z.boolean().optional(),
    watermark: z.boolean().optional(),
    return_last_frame: z.boolean().optional(),
    seed: z.number().optional(),
    safety_identifier: text.optional(),
    first_frame: text.optional(),
    last_frame: text.optional(),
    references: z.array(text).default([]),
    videos: z.array(text).default([]),
    audios: z.array(text).default([]),
    metadata,
  })
  .transform(
    ({
      generate_audio: generateAudio,
      return_last_frame: returnLastFrame,
      safety_identifier: safetyIdentifier,
      first_frame: firstFrame,
      last_frame: lastFrame,
      metadata: extra,
      ...rest
    }) =>
      defined({ ...rest, generateAudio, returnLastFrame, safetyIdentifier, firstFrame, lastFrame, extra }),
  );

const imageInput = z.union([
  text.transform((url) => ({ form: 'url' as const, url })),
  z
    .strictObject({ base64: text, media_type: text })
    .transform(({ base64, media_type: mediaType }) => ({ form: 'data' as const, base64, mediaType })),
]);

const imageSchema = z
  .strictObject({
    prompt: text.default(''),
    n: z.number().int().min(1).default(1),
    size: text.optional(),
    quality: text.optional(),
    images: z.array(imageInput).default([]),
    mask: imageInput.optional(),
    metadata,
  })
  .transform(({ metadata: extra, ...rest }) => defined({ ...rest, extra }));

export type FixtureRequest = GenerationRequest | { readonly mistake: string };

export function readFixtureRequest({
  kind,
  model,
  request,
}: Pick<Fixture, 'kind' | 'model' | 'request'>): FixtureRequest {
  const read = kind === 'video' ? videoSchema.safeParse(request) : imageSchema.safeParse(request);
  if (!read.success) {
    const [issue] = read.error.issues;
    return { mistake: `request.${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not a request'}` };
  }
  if ('references' in read.data) return { kind: 'video', model, ...read.data };
  const operation = read.data.images.length > 0 ? 'edit' : 'generate';
  return { kind: 'image', operation, model, ...read.data };
}
