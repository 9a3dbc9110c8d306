import { isRecord } from '../../base/is-record.ts';
import { sizeInPixels } from '../../base/image-sizes.ts';
import { z } from 'zod';
import { markerPattern } from '../../base/ids.ts';
import type { commonParameters } from '../../models/facts-of-request.ts';
import { imageRoles, inputTypes, type Duration, type JsonValue } from '../../models/request.ts';
import { parseJsonText } from '../../intake/json-scanner.ts';
import { exampleModels } from '../example-models.ts';
import {
  callbackUrl,
  expiresAfterSeconds,
  isDeeperThan,
  model,
  prompt,
  withoutNulls,
  word,
} from '../body-fields.ts';
import { typesOf, type Types } from '../../intake/coerce.ts';
import { endUserCharactersMax } from '../../intake/end-user.ts';
import { videoNames, type Names } from '../../intake/names.ts';
import { understand, type Understood } from '../../intake/understand.ts';

const mediaItemsMax = 64;
const durationSecondsMax = 3_600;
const metadataDepthMax = 32;

const mediaReference = z.string().min(1);
const mediaList = z.array(mediaReference).max(mediaItemsMax);
const imageList = z
  .array(
    z.union([mediaReference, z.strictObject({ url: mediaReference, role: z.enum(imageRoles).optional() })], {
      error: `must be a URL, or {"url", "role"} with the role ${imageRoles.join(', ')}`,
    }),
  )
  .max(mediaItemsMax);

const durationCharactersMax = 16;
const durationText = /^(-1|\d{1,4}(?:\.\d{1,3})?)\s?s?$/i;

/** 5, "5" and "5s" all mean five seconds. -1 lets the model decide. */
const duration = z
  .union([z.number(), z.string().max(durationCharactersMax)], { error: 'must be a number of seconds' })
  .transform((value, context): Duration => {
    const seconds = typeof value === 'number' ? value : Number(durationText.exec(value.trim())?.[1] ?? NaN);
    if (seconds === -1) return 'auto';
    if (seconds >= 1 && seconds <= durationSecondsMax) return seconds;
    context.addIssue({
      code: 'custom',
      message: `must be 1-${durationSecondsMax} seconds (5, "5" or "5s"), or -1 to let the model decide`,
    });
    return z.NEVER;
  });

const isJson = (value: unknown): value is JsonValue => value !== undefined;
const anyJson = z.unknown().transform((value): JsonValue => (isJson(value) ? value : null));
const jsonStructure = z.union([z.array(anyJson), z.record(z.string(), anyJson)], {
  error: 'must be an object or an array',
});

const consumedFields = {
  draft: z.boolean().optional(),
  generate_audio: z.boolean().optional(),
  watermark: z.boolean().optional(),
  return_last_frame: z.boolean().optional(),
  callback_url: callbackUrl,
  seed: z.int().optional(),
  execution_expires_after: expiresAfterSeconds,
  safety_identifier: z
    .string()
    .min(1)
    .max(endUserCharactersMax)
    // Without this check, the gateway could mistake a caller's job for its own lost job.
    .refine(
      (text) => !markerPattern.test(text.trim()),
      'has a format that is reserved for ids that the gateway generates',
    )
    .optional(),
  tools: jsonStructure.optional(),
  // These fields are also read from metadata, because the price must be based on what the upstream receives.
  mode: word.optional(),
  resolution: word.optional(),
  ratio: word.optional(),
  size: sizeInPixels.optional(),
  duration: duration.optional(),
  seconds: duration.optional(),
};

const commonFields = {
  negative_prompt: z
    .string()
    .optional()
    .meta({ description: 'Content that the model should keep out of the output.' }),
  cfg_scale: z
    .number()
    .optional()
    .meta({ description: 'How closely the model follows the prompt, on the model’s own scale.' }),
  camera_control: z
    .union([z.string(), z.record(z.string(), anyJson)], { error: 'must be a string or an object' })
    .optional()
    .meta({ description: 'How the camera moves, in the model’s own terms.' }),
  fps: z.int().optional().meta({ description: 'Frames per second.' }),
  motion_strength: z.number().optional().meta({
    description: 'The amount of motion, on the model’s own scale.',
  }),
  video_task: z.string().optional().meta({
    description:
      'How an input video is used, such as `reference`, `edit` or `extend`. Defaults to `reference` if the model accepts reference videos.',
  }),
} satisfies Record<(typeof commonParameters)[number], z.ZodType>;

const metadataShape = { ...consumedFields, ...commonFields };
const metadataFields = z.object(metadataShape).catchall(anyJson);
const metadataNames: ReadonlySet<string> = new Set(Object.keys(metadataFields.shape));

/**
 * The `metadata` fields that the gateway itself reads. All others are passed to the upstream. Fields that many
 * upstreams share are renamed for each of them.
 */
export const consumedMetadataNames: ReadonlySet<string> = new Set(Object.keys(consumedFields));

const metadata = z.preprocess((value, context) => {
  const parsed = typeof value === 'string' ? parseJsonText(value) : value;
  if (typeof value === 'string' && (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))) {
    context.addIssue({
      code: 'custom',
      message: 'must be an object, or a string that contains a JSON object',
    });
    return z.NEVER;
  }
  if (isDeeperThan(parsed, metadataDepthMax)) {
    context.addIssue({ code: 'custom', message: `may be nested at most ${metadataDepthMax} levels deep` });
    return z.NEVER;
  }
  return isRecord(parsed) ? withoutNulls(parsed, metadataNames) : parsed;
}, metadataFields);

export const videoBodySchema = z
  .object({
    model,
    prompt,
    mode: word.optional(),
    input_type: z.enum(inputTypes).optional(),
    image: mediaReference
      .optional()
      .meta({ description: 'The same as images[0]. Ignored if images is present.' }),
    images: imageList.optional().meta({
      description:
        'A single image without a role or an input_type is treated as a reference if the model accepts references, and otherwise as the first frame.',
    }),
    videos: mediaList.optional(),
    audios: mediaList.optional(),
    resolution: word.optional(),
    ratio: word.optional(),
    size: sizeInPixels.optional().meta({
      description:
        '<width>x<height>, an alternative to `resolution` and `ratio`, which take precedence. If the model does not render this size, the error lists the sizes that it renders.',
    }),
    duration: duration
      .optional()
      .meta({ description: 'The duration in seconds: 5, "5" or "5s". -1 lets the model decide.' }),
    seconds: duration
      .optional()
      .meta({ description: 'The legacy name of `duration`. If both are present, `duration` applies.' }),
    metadata: metadata.optional().meta({
      description:
        'Parameters that only some models support, as an object or its JSON string. Those listed here have the same meaning for every vendor. All others are passed upstream unchanged. `warnings` lists those that the model does not use.',
    }),
  })
  .meta({
    id: 'VideoRequest',
    examples: [{ model: exampleModels.video, prompt: 'A paper boat on a rainy street', duration: 5 }],
  });

const types: Types = new Map([...typesOf(videoBodySchema.shape), ...typesOf(metadataShape, 'metadata.')]);

export type VideoBody = z.output<typeof videoBodySchema>;
export function understandVideo(
  fields: Readonly<Record<string, unknown>>,
  names: Names = videoNames,
  fixed?: Readonly<Record<string, unknown>>,
): Understood {
  return understand(fields, { names, types }, fixed);
}

export type VideoMetadata = NonNullable<VideoBody['metadata']>;
