import { z } from 'zod';
import { defined } from '../base/defined.ts';
import { sizeFacts, sizeInPixels } from '../base/image-sizes.ts';
import { framesOf } from './media-roles.ts';
import type { ImageRequest, JsonObject, VideoMedia, VideoRequest } from './request.ts';

/**
 * What a model renders, from what, and which fields it has: plain data in the words of our interface. The vendor's
 * table says it, `facts` of a channel's model in gateway.yaml is laid over it, and one checker reads it
 * (model-facts-check.ts). What is absent is for the vendor to say.
 */

const mediaParts = ['first_frame', 'last_frame', 'references', 'videos', 'audios'] as const;
export type MediaPart = (typeof mediaParts)[number];
const countedMedia = ['references', 'videos', 'audios'] as const;

const text = z.string().min(1);
const texts = z.array(text);
const count = z.number().int().nonnegative();
const seconds = z.number().positive();
const parts = z.array(z.enum(mediaParts));

const mediaFacts = z.strictObject({
  /** 1: a first frame; 2: a last one beside it, too. */
  frames: count.max(2).optional(),
  references: count.optional(),
  videos: count.optional(),
  audios: count.optional(),
  /** References, videos and sounds together. */
  total: count.optional(),
  /** What goes together with frames. */
  beside_frames: z.array(z.enum(countedMedia)).optional(),
  /** One of these must be there. */
  needs: parts.optional(),
  /** What needs an image or a video beside it. */
  accompanied: z.array(z.enum(countedMedia)).optional(),
});
export type MediaFacts = z.infer<typeof mediaFacts>;

const isSpan = ({ min, max }: { readonly min?: number | undefined; readonly max?: number | undefined }) =>
  min === undefined || max === undefined || min <= max;
const spanMessage = 'min is above max';

/** These lengths alone (none: no length can be named); or those between two, `step` seconds apart (1 unless said otherwise), counted from 0. */
const lengthFacts = z
  .strictObject({
    only: z.array(seconds).optional(),
    min: seconds.optional(),
    max: seconds.optional(),
    step: seconds.optional(),
    /** The model chooses one for -1. */
    auto: z.boolean().optional(),
  })
  .refine(isSpan, spanMessage);
export type LengthFacts = z.infer<typeof lengthFacts>;

/** Fields that a model may lack, as callers spell them, some of them in `metadata`. */
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
/** Facts of a model that has them all. */
export const everyField: Readonly<Partial<Record<FieldName, boolean>>> = Object.fromEntries(
  fieldNames.map((name) => [name, true]),
);
/** The same of image models. */
export const imageFieldNames = ['size', 'quality'] as const;
export type FieldName = (typeof fieldNames)[number] | (typeof imageFieldNames)[number];

export const parameterShape = {
  type: z.enum(['text', 'number', 'integer', 'flag', 'list', 'object']).optional(),
  min: z.number().optional(),
  max: z.number().optional(),
  values: z.array(z.union([z.string(), z.number(), z.boolean()])).optional(),
};
const parameterFacts = z
  .strictObject({
    ...parameterShape,
    /** The vendor's name of it, where it is another. */
    sent_as: text.optional(),
    /** The adapter makes something else of it: it is not passed on. */
    read: z.literal(true).optional(),
  })
  .refine(isSpan, spanMessage);
export type ParameterFacts = z.infer<typeof parameterFacts>;

export const conditionSchema = z.strictObject({
  /** One of these is brought. */
  brings: parts.optional(),
  /** None of these is brought. */
  lacks: parts.optional(),
  /** One of these is asked for. */
  resolution: texts.optional(),
  ratio: texts.optional(),
  draft: z.boolean().optional(),
  /** `metadata` has these values; `any`: whatever it is. */
  metadata: z.record(text, z.union([z.string(), z.number(), z.boolean()])).optional(),
});
export type FactsCondition = z.infer<typeof conditionSchema>;

/** Of both kinds, and of concern to callers, too. */
const offeredOfBoth = {
  prompt: z
    .strictObject({
      characters: count.optional(),
      /** With what the prompt may be empty; absent: always. */
      wordless: parts.optional(),
    })
    .optional(),
  /** Whether other names in `metadata`, or of the body of an image request, are sent as they are. */
  other_parameters: z.boolean().optional(),
};

const offeredOfVideos = {
  media: mediaFacts.optional(),
  resolutions: texts.optional(),
  /** `adaptive` where the model takes it. */
  ratios: texts.optional(),
  /** The pixels of a video, `<width>x<height>`, by resolution and ratio. Absent or empty if they are not known. */
  shapes: z.record(text, z.record(text, sizeInPixels)).optional(),
  seconds: lengthFacts.optional(),
  /** `fixed`: nobody can choose, and what comes is not known. */
  sound: z.enum(['choice', 'always', 'never', 'fixed']).optional(),
  seed: z
    .strictObject({ min: z.number().int(), max: z.number().int() })
    .refine(isSpan, spanMessage)
    .optional(),
};

const fieldFacts = (names: readonly FieldName[]) => z.partialRecord(z.enum(names), z.boolean()).optional();
/** Those that are sent, or that come true anyway. */
const fieldsOfBoth = { fields: fieldFacts([...fieldNames, ...imageFieldNames]) };

const offeredOfImages = {
  /** How many one request may ask for. */
  images: z.strictObject({ only: z.array(count).optional(), max: count.optional() }).optional(),
  /** The images of the caller. */
  references: z
    .strictObject({
      min: count.optional(),
      max: count.optional(),
      /** Whether one says which part is replaced. */
      mask: z.boolean().optional(),
    })
    .refine(isSpan, spanMessage)
    .optional(),
  sizes: sizeFacts.optional(),
  qualities: texts.optional(),
};

export const offeredShape = { ...offeredOfBoth, ...offeredOfVideos, ...offeredOfImages, ...fieldsOfBoth };

const ofBoth = {
  ...offeredOfBoth,
  /** Of `metadata`, or of the body of an image request. */
  parameters: z.record(text, parameterFacts).optional(),
  /** Schemes of the addresses that it fetches, `data` among them. */
  addresses: z
    .strictObject({
      images: texts.optional(),
      videos: texts.optional(),
      audios: texts.optional(),
      characters: count.optional(),
    })
    .optional(),
  /** Names of parameters that the gateway decides: never sent. */
  reserved: texts.optional(),
  /**
   * The most tokens that may be billed for one image, for a second of input video or audio, and for rendered text.
   */
  tokens: z.partialRecord(z.enum(['image', 'video_second', 'audio_second', 'text']), count).optional(),
};

const ofVideos = {
  ...ofBoth,
  ...offeredOfVideos,
  /** The longest total duration of all videos of a request, in seconds. */
  input_seconds: seconds.optional(),
  /** The maximum frame rate of a rendered video. */
  frames_per_second: count.optional(),
  /** What is rendered where a request leaves it open, or names what is not sent; the usual resolution first. */
  unsaid: z
    .strictObject({
      resolutions: texts.optional(),
      seconds: z.strictObject({ min: seconds, max: seconds }).refine(isSpan, spanMessage).optional(),
      open_ratio: z.boolean().optional(),
    })
    .optional(),
};

const ofImages = {
  ...ofBoth,
  ...offeredOfImages,
  /** Images of one call, where they are answered at once; absent: one. */
  per_call: count.min(1).optional(),
  /** Answers with base64 whatever is asked for. */
  data_only: z.boolean().optional(),
};

function withCases<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const facts = z.strictObject(shape);
  return z.strictObject({
    ...shape,
    /** Laid over the others in their order, each where its condition holds. */
    cases: z.array(z.strictObject({ when: conditionSchema.optional(), facts })).optional(),
  });
}

const plainFactsSchema = z.strictObject({ ...ofVideos, ...ofImages, ...fieldsOfBoth });
/** Of one kind or the other. */
export type PlainFacts = z.infer<typeof plainFactsSchema>;

export const videoFactsSchema = withCases({ ...ofVideos, fields: fieldFacts(fieldNames) });
export type VideoFacts = z.infer<typeof videoFactsSchema>;

export const imageFactsSchema = withCases({ ...ofImages, fields: fieldFacts(imageFieldNames) });
export type ImageFacts = z.infer<typeof imageFactsSchema>;

export const modelFactsSchema = withCases({ ...ofVideos, ...ofImages, ...fieldsOfBoth });
export type ModelFacts = z.infer<typeof modelFactsSchema>;

/** Parts of facts count one by one, lists, lengths, sizes and shapes as a whole; what is reserved stays so. */
export function laidOver(facts: PlainFacts, over: PlainFacts): PlainFacts {
  return {
    ...facts,
    ...over,
    ...defined({
      media: joined(facts.media, over.media),
      prompt: joined(facts.prompt, over.prompt),
      addresses: joined(facts.addresses, over.addresses),
      references: joined(facts.references, over.references),
      fields: joined(facts.fields, over.fields),
      tokens: joined(facts.tokens, over.tokens),
      parameters: joined(facts.parameters, over.parameters),
      unsaid: joined(facts.unsaid, over.unsaid),
      reserved: over.reserved === undefined ? undefined : [...(facts.reserved ?? []), ...over.reserved],
    }),
  };
}

function joined<Part extends object>(part: Part | undefined, over: Part | undefined): Part | undefined {
  return over === undefined ? part : { ...part, ...over };
}

/** What of a request decides which cases hold. */
export type FactsBasis = Partial<
  VideoMedia & Pick<VideoRequest, 'resolution' | 'ratio' | 'draft'> & Pick<ImageRequest, 'images'>
> & {
  readonly extra: JsonObject;
};

/** The facts that hold for one request. */
export function factsFor(request: FactsBasis, { cases = [], ...facts }: ModelFacts): PlainFacts {
  return cases
    .filter(({ when = {} }) => holds(when, request))
    .reduce((whole, { facts: over }) => laidOver(whole, over), facts);
}

function holds({ brings, lacks, ...when }: FactsCondition, request: FactsBasis): boolean {
  const brought = broughtBy(request);
  return (
    (brings === undefined || brings.some((part) => brought.has(part))) &&
    (lacks === undefined || !lacks.some((part) => brought.has(part))) &&
    (when.resolution === undefined || isListed(request.resolution, when.resolution)) &&
    (when.ratio === undefined || isListed(request.ratio, when.ratio)) &&
    (when.draft === undefined || when.draft === (request.draft === true)) &&
    Object.entries(when.metadata ?? {}).every(([name, value]) => {
      const said = Object.hasOwn(request.extra, name) ? request.extra[name] : undefined;
      return value === 'any' ? said !== undefined : said === value;
    })
  );
}

/** Resolutions are the same in capital letters. */
export function isListed(value: string | undefined, list: readonly string[]): boolean {
  return list.some((one) => one.toLowerCase() === value?.toLowerCase());
}

export function broughtBy(media: Partial<VideoMedia & Pick<ImageRequest, 'images'>>): ReadonlySet<MediaPart> {
  const { references = [], images = [], videos = [], audios = [] } = media;
  const counts = {
    first_frame: media.firstFrame === undefined ? 0 : 1,
    last_frame: framesOf(media).length - 1,
    references: references.length + images.length,
    videos: videos.length,
    audios: audios.length,
  };
  return new Set(mediaParts.filter((part) => counts[part] > 0));
}

/** Of `metadata`: one spelling each, whatever a vendor calls it. Only facts that name it have it sent. */
export const commonParameters = [
  'negative_prompt',
  'cfg_scale',
  'camera_control',
  'fps',
  'motion_strength',
  'video_task',
] as const;
const commonNames: ReadonlySet<string> = new Set(commonParameters);

/** Under which name the vendor gets a name of `metadata`; undefined: it does not. */
function sentName(
  name: string,
  { parameters = {}, reserved = [], ...facts }: PlainFacts,
): string | undefined {
  const known = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  const isOpen = facts.other_parameters === true && !commonNames.has(name);
  if (known?.read === true || (known === undefined && !isOpen)) return undefined;
  const sent = known?.sent_as ?? name;
  return reserved.includes(sent) ? undefined : sent;
}

/** Whether a name in `metadata` does anything. */
export function isUsed(name: string, facts: PlainFacts): boolean {
  const { parameters = {} } = facts;
  const isRead = Object.hasOwn(parameters, name) && parameters[name]?.read === true;
  return isRead || sentName(name, facts) !== undefined;
}

/** What the vendor gets of `metadata`, or of further fields of an image request, by its own names. */
export function passedOn({ extra }: Pick<FactsBasis, 'extra'>, facts: PlainFacts): JsonObject {
  const passed = Object.entries(extra).flatMap(([name, value]) => {
    const sent = sentName(name, facts);
    return sent === undefined ? [] : [[sent, value] as const];
  });
  return Object.fromEntries(passed);
}

/** What may be rendered where a request leaves it open, or what it names is not sent. */
export function possibleOutput(request: VideoRequest, { unsaid, fields = {}, seconds }: PlainFacts) {
  const { resolution, duration, ratio } = request;
  const isUnsent = fields.ratio !== true && ratio !== undefined;
  const isNamed = fields.resolution === true && resolution !== undefined;
  const isTimed = fields.duration === true && typeof duration === 'number';
  const { min, max } = seconds ?? {};
  const open = min === undefined || max === undefined ? undefined : { min, max };
  const unsaidSeconds = duration === 'auto' ? (open ?? unsaid?.seconds) : unsaid?.seconds;
  return defined({
    resolutions: isNamed ? undefined : unsaid?.resolutions,
    seconds: isTimed ? undefined : unsaidSeconds,
    openRatio: unsaid?.open_ratio ?? (isUnsent ? true : undefined),
  });
}
