import { z } from 'zod';
import { mediaSeconds } from '../base/times.ts';
import { sizeFacts, sizeInPixels } from '../base/image-sizes.ts';

/**
 * These facts say what a model renders, from which input, and which fields it has. They come from the vendor's table,
 * and `facts` in gateway.yaml can override them. model-facts-check.ts checks requests against them. Anything that they
 * leave open is up to the vendor.
 */

export const mediaParts = ['first_frame', 'last_frame', 'references', 'videos', 'audios'] as const;
export type MediaPart = (typeof mediaParts)[number];
const countedMedia = ['references', 'videos', 'audios'] as const;

const text = z.string().min(1);
const texts = z.array(text);
const count = z.number().int().nonnegative();
const seconds = z.number().min(mediaSeconds.min).max(mediaSeconds.max);
const parts = z.array(z.enum(mediaParts));

const mediaFacts = z.strictObject({
  frames: count.max(2).optional().describe('1 means a first frame. 2 means a first and a last frame'),
  references: count.optional().describe('The maximum number of reference images in a request'),
  videos: count.optional().describe('The maximum number of input videos in a request'),
  audios: count.optional().describe('The maximum number of input audio files in a request'),
  total: count
    .optional()
    .describe('The maximum total number of references, videos and audio files in a request'),
  beside_frames: z
    .array(z.enum(countedMedia))
    .optional()
    .describe('The media that can be combined with frames'),
  needs: parts.optional().describe('The media of which a request must contain at least one'),
  accompanied: z
    .array(z.enum(countedMedia))
    .optional()
    .describe('Media that are accepted only in addition to an image or a video'),
});
export type MediaFacts = z.infer<typeof mediaFacts>;

const isSpan = ({ min, max }: { readonly min?: number | undefined; readonly max?: number | undefined }) =>
  min === undefined || max === undefined || min <= max;
const spanMessage = 'min is above max';

/**
 * Either a list of exact lengths, or a range in steps of `step` seconds (default 1), counted from 0. With an empty
 * list, requests cannot choose the length.
 */
const lengthFacts = z
  .strictObject({
    only: z
      .array(seconds)
      .optional()
      .describe(
        'The only accepted lengths, in seconds. If the list is empty, a request cannot choose the length',
      ),
    min: seconds.optional().describe('The shortest length, in seconds'),
    max: seconds.optional().describe('The longest length, in seconds'),
    step: seconds.optional().describe('Lengths are multiples of this number of seconds (default: 1)'),
    auto: z.boolean().optional().describe('Whether a length of -1 lets the model choose'),
  })
  .refine(isSpan, spanMessage);
export type LengthFacts = z.infer<typeof lengthFacts>;

/** Only some models have these fields. They have the names that callers use, some of them in `metadata`. */
export const fieldNames = [
  'mode',
  'resolution',
  'ratio',
  'duration',
  'draft',
  'generate_audio',
  'watermark',
  'return_last_frame',
  'seed',
  'safety_identifier',
  'tools',
] as const;
export const everyField: Readonly<Partial<Record<FieldName, boolean>>> = Object.fromEntries(
  fieldNames.map((name) => [name, true]),
);
export const imageFieldNames = ['size', 'quality'] as const;
export type FieldName = (typeof fieldNames)[number] | (typeof imageFieldNames)[number];

export const parameterShape = {
  type: z
    .enum(['text', 'number', 'integer', 'flag', 'list', 'object'])
    .optional()
    .describe('The type of the value'),
  min: z.number().optional().describe('The minimum value'),
  max: z.number().optional().describe('The maximum value'),
  values: z
    .array(z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe('The only accepted values'),
};
const parameterFacts = z
  .strictObject({
    ...parameterShape,
    sent_as: text.optional().describe('The vendor’s name for the parameter, if it differs'),
    read: z
      .literal(true)
      .optional()
      .describe('If true, the adapter translates the parameter into something else instead of sending it'),
  })
  .refine(isSpan, spanMessage);
export type ParameterFacts = z.infer<typeof parameterFacts>;

export const conditionSchema = z.strictObject({
  brings: parts.optional().describe('The request has one of these media'),
  lacks: parts.optional().describe('The request has none of these media'),
  resolution: texts.optional().describe('The requested resolution is one of these'),
  ratio: texts.optional().describe('The requested ratio is one of these'),
  duration: z.array(seconds).optional().describe('The requested length, in seconds, is one of these'),
  draft: z.boolean().optional().describe('Whether the request asks for a draft'),
  metadata: z
    .record(text, z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe('The request’s metadata has these values. The value any matches every value'),
});
export type FactsCondition = z.infer<typeof conditionSchema>;

const offeredOfBoth = {
  prompt: z
    .strictObject({
      characters: count.optional().describe('The maximum number of characters in a prompt'),
      wordless: parts
        .optional()
        .describe(
          'The media with which the prompt may be empty. If unset, the prompt may always be empty. If the list is empty, it never may',
        ),
    })
    .optional(),
  other_parameters: z
    .boolean()
    .optional()
    .describe(
      'Whether unlisted names in metadata are sent. If unset, they are not sent, and `warnings` lists them',
    ),
};

const offeredOfVideos = {
  media: mediaFacts.optional(),
  resolutions: texts.optional().describe('The resolutions that the model renders'),
  ratios: texts.optional().describe('The ratios that the model supports, including `adaptive`'),
  shapes: z
    .record(
      text,
      z
        .record(text, sizeInPixels.describe('Width and height in pixels, such as 1280x720'))
        .describe('The pixels of a video by its ratio'),
    )
    .optional()
    .describe('The pixels of a video by its resolution and ratio. If unset, they are unknown'),
  seconds: lengthFacts.optional(),
  sound: z
    .enum(['choice', 'always', 'never', 'fixed'])
    .optional()
    .describe(
      'Whether videos have sound. With fixed, a request cannot choose, and it is not known in advance whether the video has sound',
    ),
  seed: z
    .strictObject({
      min: z.number().int().describe('The smallest seed'),
      max: z.number().int().describe('The largest seed'),
    })
    .refine(isSpan, spanMessage)
    .optional(),
};

const fieldFacts = (names: readonly FieldName[]) =>
  z
    .partialRecord(
      z.enum(names),
      z
        .boolean()
        .describe(
          'Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way',
        ),
    )
    .optional();
const fieldsOfBoth = { fields: fieldFacts([...fieldNames, ...imageFieldNames]) };

const offeredOfImages = {
  images: z
    .strictObject({
      only: z.array(count).optional().describe('The only numbers of images that a request can ask for'),
      max: count.optional().describe('The maximum number of images that a request can ask for'),
    })
    .optional(),
  references: z
    .strictObject({
      min: count.optional().describe('The minimum number of the caller’s images in a request'),
      max: count.optional().describe('The maximum number of the caller’s images in a request'),
      mask: z.boolean().optional().describe('Whether a mask can mark the part of an image to replace'),
    })
    .refine(isSpan, spanMessage)
    .optional(),
  sizes: sizeFacts.optional(),
  qualities: texts
    .optional()
    .describe(
      'The qualities that a request can choose. If the list is empty, a request cannot choose a quality',
    ),
};

export const offeredShape = { ...offeredOfBoth, ...offeredOfVideos, ...offeredOfImages, ...fieldsOfBoth };

const ofBoth = {
  ...offeredOfBoth,
  parameters: z
    .record(text, parameterFacts)
    .optional()
    .describe('Names that the model accepts in metadata, or in the body of an image request'),
  addresses: z
    .strictObject({
      images: texts
        .optional()
        .describe('The schemes from which the vendor loads images, such as https and data'),
      videos: texts.optional().describe('The schemes from which the vendor loads videos'),
      audios: texts.optional().describe('The schemes from which the vendor loads audio files'),
      characters: count.optional().describe('The maximum number of characters in a URL'),
    })
    .optional(),
  reserved: texts.optional().describe('Names in metadata that are never sent, because the gateway sets them'),
  required: texts.optional().describe('Fields and names in metadata that a request must have'),
  tokens: z
    .partialRecord(
      z.enum(['image', 'video_second', 'audio_second', 'text']),
      count.describe(
        'The maximum number of tokens that may be billed for one input image, for a second of input video or audio, or for the rendered text',
      ),
    )
    .optional(),
};

const unsaidSeconds = z
  .strictObject({
    min: seconds.describe('The shortest video, in seconds, if a request does not specify the length'),
    max: seconds.describe('The longest video, in seconds, if a request does not specify the length'),
    as_input: z
      .boolean()
      .optional()
      .describe('Whether such a video is as long as the input videos, within these bounds'),
  })
  .refine(isSpan, spanMessage);

const ofVideos = {
  ...ofBoth,
  ...offeredOfVideos,
  input_seconds: seconds.optional().describe('The longest total duration of the input videos, in seconds'),
  input_seconds_reported: z
    .boolean()
    .optional()
    .describe('Whether the vendor’s responses contain the total duration of all input videos'),
  frames_per_second: count.optional().describe('The highest frame rate of a rendered video'),
  /**
   * What the vendor renders if a request omits a value, or if the value is not sent. The default resolution comes
   * first.
   */
  unsaid: z
    .strictObject({
      resolutions: texts
        .optional()
        .describe('The resolutions that may be rendered if a request specifies none, the usual one first'),
      seconds: unsaidSeconds.optional(),
      open_ratio: z
        .boolean()
        .optional()
        .describe('Whether the input media determine the ratio if a request does not specify one'),
    })
    .optional(),
};

const ofImages = {
  ...ofBoth,
  ...offeredOfImages,
  per_call: count
    .min(1)
    .optional()
    .describe('The number of images that one call renders, if its response contains them. If unset, 1'),
  data_only: z
    .boolean()
    .optional()
    .describe('Whether responses contain base64 even if a request asks for links'),
};

function withCases<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const facts = z.strictObject(shape);
  return z.strictObject({
    ...shape,
    cases: z
      .array(z.strictObject({ when: conditionSchema.optional(), facts }))
      .optional()
      .describe('Facts that override the other facts, in this order, wherever their condition is met'),
  });
}

const plainFactsSchema = z.strictObject({ ...ofVideos, ...ofImages, ...fieldsOfBoth });
export type PlainFacts = z.infer<typeof plainFactsSchema>;

export const videoFactsSchema = withCases({ ...ofVideos, fields: fieldFacts(fieldNames) });
export type VideoFacts = z.infer<typeof videoFactsSchema>;

export const imageFactsSchema = withCases({ ...ofImages, fields: fieldFacts(imageFieldNames) });
export type ImageFacts = z.infer<typeof imageFactsSchema>;

export const modelFactsSchema = withCases({ ...ofVideos, ...ofImages, ...fieldsOfBoth });
export type ModelFacts = z.infer<typeof modelFactsSchema>;
