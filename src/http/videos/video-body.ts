import { isRecord } from '../../base/is-record.ts';
import { sizeInPixels } from '../../base/image-sizes.ts';
import { z } from 'zod';
import { markerPattern } from '../../base/ids.ts';
import type { commonParameters } from '../../models/model-facts.ts';
import { imageRoles, inputTypes } from '../../models/request.ts';
import type { Duration, JsonValue } from '../../models/request.ts';
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
import { typesOf } from '../../intake/coerce.ts';
import type { Types } from '../../intake/coerce.ts';
import { videoNames } from '../../intake/names.ts';
import type { Names } from '../../intake/names.ts';
import { understand } from '../../intake/understand.ts';
import type { Understood } from '../../intake/understand.ts';

/** The body of a video create and of an estimate, as it comes over the wire. */

const mediaItemsMax = 64;
const safetyIdentifierCharactersMax = 256;
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

/** 5, "5" and "5s" are five seconds; -1 lets the model decide. */
const duration = z
  .union([z.number(), z.string().max(durationCharactersMax)], { error: 'must be a number of seconds' })
  .transform((value, context): Duration => {
    const seconds = typeof value === 'number' ? value : Number(durationText.exec(value.trim())?.[1] ?? NaN);
    if (seconds === -1) return 'auto';
    if (seconds >= 1 && seconds <= durationSecondsMax) return seconds;
    context.addIssue({
      code: 'custom',
      message: `must be 1-${durationSecondsMax} seconds (5, "5" or "5s"), or -1 where the model decides`,
    });
    return z.NEVER;
  });

/** Came as JSON, so it is JSON. */
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
    .max(safetyIdentifierCharactersMax)
    // A caller's job must not be found in place of a lost one of the gateway's.
    .refine((text) => !markerPattern.test(text.trim()), 'has a form that is reserved for the gateway')
    .optional(),
  tools: jsonStructure.optional(),
  // Where the top level does not say it: the price must see what the upstream will.
  mode: word.optional(),
  resolution: word.optional(),
  ratio: word.optional(),
  size: sizeInPixels.optional(),
  duration: duration.optional(),
  seconds: duration.optional(),
};

const commonFields = {
  negative_prompt: z.string().optional().meta({ description: 'What should not be seen.' }),
  cfg_scale: z
    .number()
    .optional()
    .meta({ description: 'How closely the prompt is followed, on the scale of the model.' }),
  camera_control: z
    .union([z.string(), z.record(z.string(), anyJson)], { error: 'must be a text or an object' })
    .optional()
    .meta({ description: 'How the camera moves, in the words of the model.' }),
  fps: z.int().optional().meta({ description: 'Frames per second.' }),
  motion_strength: z.number().optional().meta({ description: 'How much moves, on the scale of the model.' }),
  video_task: z.string().optional().meta({
    description:
      'What is made of a video, in words such as `reference`, `edit`, `extend`. Absent: a reference where the model takes reference videos.',
  }),
} satisfies Record<(typeof commonParameters)[number], z.ZodType>;

const metadataShape = { ...consumedFields, ...commonFields };
const metadataFields = z.object(metadataShape).catchall(anyJson);
const metadataNames: ReadonlySet<string> = new Set(Object.keys(metadataFields.shape));

/** The rest goes to the upstream, by its own names for what is common. */
export const consumedMetadataNames: ReadonlySet<string> = new Set(Object.keys(consumedFields));

const metadata = z.preprocess((value, context) => {
  const parsed = typeof value === 'string' ? parseJsonText(value) : value;
  if (typeof value === 'string' && (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))) {
    context.addIssue({ code: 'custom', message: 'must be an object, or a string that holds a JSON object' });
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
      .meta({ description: 'Same as images[0]; ignored if images is present.' }),
    images: imageList.optional().meta({
      description:
        'A single image without a role or an input_type is a reference where the model takes references, and its first frame where it takes none.',
    }),
    videos: mediaList.optional(),
    audios: mediaList.optional(),
    resolution: word.optional(),
    ratio: word.optional(),
    size: sizeInPixels.optional().meta({
      description:
        '<width>x<height>, instead of `resolution` and `ratio`, which overrule it. If the model does not render this size, the error lists those it does.',
    }),
    duration: duration.optional().meta({ description: 'Seconds: 5, "5" or "5s"; -1 lets the model decide.' }),
    seconds: duration
      .optional()
      .meta({ description: 'Legacy name of duration, which wins if both are present.' }),
    metadata: metadata.optional().meta({
      description:
        'Parameters that not every model has: an object, or a string that holds it as JSON. Those that are listed here mean the same at every vendor; others are passed upstream unchanged. `warnings` names what a model does not use.',
    }),
  })
  .meta({
    id: 'VideoRequest',
    examples: [{ model: exampleModels.video, prompt: 'A paper boat on a rainy street', duration: 5 }],
  });

const types: Types = new Map([...typesOf(videoBodySchema.shape), ...typesOf(metadataShape, 'metadata.')]);

export type VideoBody = z.output<typeof videoBodySchema>;
/**
 * Reads what a create asks for, by the field names of its interface. Throws GatewayError with the names that the
 * caller sent.
 */
export function understandVideo(
  fields: Readonly<Record<string, unknown>>,
  names: Names = videoNames,
  fixed?: Readonly<Record<string, unknown>>,
): Understood {
  return understand(fields, { names, types }, fixed);
}

export type VideoMetadata = NonNullable<VideoBody['metadata']>;
