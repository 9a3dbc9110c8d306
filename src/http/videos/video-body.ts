import { z } from 'zod';
import { inputTypes } from '../../domain/request.ts';
import type { Duration, JsonValue } from '../../domain/request.ts';
import { parseSize } from '../output-size.ts';

/** The body of a video create and of an estimate, as it comes over the wire. */

const modelCharactersMax = 128;
const promptCharactersMax = 32_000;
const wordCharactersMax = 64;
const mediaItemsMax = 64;
const callbackUrlCharactersMax = 2_048;
const safetyIdentifierCharactersMax = 256;
const durationSecondsMax = 3_600;
const expiresAfterSecondsMax = 259_200;
const metadataDepthMax = 32;

const word = z.string().min(1).max(wordCharactersMax);
const mediaReference = z.string().min(1);
const mediaList = z.array(mediaReference).max(mediaItemsMax);

const prompt = z
  .string()
  .refine((text) => text.trim() !== '', 'must not be empty')
  .refine(
    // Counting code points of a long text is only worth it when its length is in doubt.
    (text) => text.length <= promptCharactersMax || Array.from(text).length <= promptCharactersMax,
    `must have at most ${promptCharactersMax} characters`,
  );

const size = word.refine(
  (text) => parseSize(text) !== undefined,
  'must be <width>x<height>, such as 1280x720',
);

const durationText = /^(-1|\d{1,4}(?:\.\d{1,3})?)\s?s?$/i;

/** 5, "5" and "5s" are five seconds; -1 lets the model decide. */
const duration = z
  .union([z.number(), z.string()], { error: 'must be a number of seconds' })
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

const metadataFields = z
  .object({
    draft: z.boolean().optional(),
    generate_audio: z.boolean().optional(),
    watermark: z.boolean().optional(),
    return_last_frame: z.boolean().optional(),
    callback_url: z.string().min(1).max(callbackUrlCharactersMax).optional(),
    seed: z.int().optional(),
    execution_expires_after: z.int().min(1).max(expiresAfterSecondsMax).optional(),
    safety_identifier: z.string().min(1).max(safetyIdentifierCharactersMax).optional(),
    tools: jsonStructure.optional(),
    // Where the top level does not say it: the price must see what the upstream will.
    mode: word.optional(),
    resolution: word.optional(),
    ratio: word.optional(),
    size: size.optional(),
    duration: duration.optional(),
    seconds: duration.optional(),
  })
  .catchall(anyJson);

/** The rest goes to the upstream as it came. */
export const consumedMetadataNames: ReadonlySet<string> = new Set(Object.keys(metadataFields.shape));

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
  return parsed;
}, metadataFields);

export const videoBodySchema = z
  .object({
    model: z.string().min(1).max(modelCharactersMax),
    prompt,
    mode: word.optional(),
    input_type: z.enum(inputTypes).optional(),
    image: mediaReference.optional().meta({ description: 'The same as images[0]; ignored beside images.' }),
    images: mediaList.optional(),
    videos: mediaList.optional(),
    audios: mediaList.optional(),
    resolution: word.optional(),
    ratio: word.optional(),
    size: size.optional().meta({
      description: '<width>x<height>: gives resolution and ratio where these are absent.',
    }),
    duration: duration.optional().meta({ description: 'Seconds: 5, "5" or "5s"; -1 lets the model decide.' }),
    seconds: duration.optional().meta({ description: 'Legacy spelling of duration, which wins.' }),
    metadata: metadata.optional().meta({
      description:
        'Upstream parameters: an object, or a string that holds it as JSON. What the gateway does not know goes upstream as it came.',
    }),
  })
  .meta({ id: 'VideoRequest' });

export type VideoBody = z.output<typeof videoBodySchema>;
export type VideoMetadata = NonNullable<VideoBody['metadata']>;

function parseJsonText(text: string): unknown {
  try {
    // The body's own parser refuses __proto__; a text inside it must not bring it back.
    return JSON.parse(text, (key, value: unknown) => (key === '__proto__' ? undefined : value));
  } catch {
    return undefined;
  }
}

/** Level by level, so that a hostile depth costs no stack: later steps recurse. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= levels; depth += 1) {
    level = level.flatMap((item): unknown[] =>
      typeof item === 'object' && item !== null ? Object.values(item) : [],
    );
    if (level.length === 0) return false;
  }
  return true;
}
