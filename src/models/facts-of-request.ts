import { defined } from '../base/defined.ts';
import { framesOf } from './media-roles.ts';
import { mediaParts } from './model-facts.ts';
import type { FactsCondition, FieldName, MediaPart, ModelFacts, PlainFacts } from './model-facts.ts';
import type { GenerationRequest, ImageRequest, JsonObject, VideoMedia, VideoRequest } from './request.ts';

/**
 * Returns `facts` with the values of `over` in their place. Nested objects are merged key by key. Lists, lengths, sizes
 * and shapes are replaced as a whole. Names that either side reserves stay reserved.
 */
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

export type FactsBasis = Partial<
  VideoMedia &
    Pick<VideoRequest, 'resolution' | 'ratio' | 'duration' | 'draft'> &
    Pick<ImageRequest, 'images'>
> & {
  readonly extra: JsonObject;
};

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
    (when.duration === undefined || when.duration.some((one) => one === request.duration)) &&
    (when.draft === undefined || when.draft === (request.draft === true)) &&
    Object.entries(when.metadata ?? {}).every(([name, value]) => {
      const said = Object.hasOwn(request.extra, name) ? request.extra[name] : undefined;
      return value === 'any' ? said !== undefined : said === value;
    })
  );
}

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

/** Every vendor spells these `metadata` names the same way. They are sent only if the model's facts list them. */
export const commonParameters = [
  'negative_prompt',
  'cfg_scale',
  'camera_control',
  'fps',
  'motion_strength',
  'video_task',
] as const;
const commonNames: ReadonlySet<string> = new Set(commonParameters);

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

export function isUsed(name: string, facts: PlainFacts): boolean {
  const { parameters = {} } = facts;
  const isRead = Object.hasOwn(parameters, name) && parameters[name]?.read === true;
  return isRead || sentName(name, facts) !== undefined;
}

/** Returns the values from `metadata` (or an image request's extra fields) under the vendor's own names. */
export function passedOn({ extra }: Pick<FactsBasis, 'extra'>, facts: PlainFacts): JsonObject {
  const passed = Object.entries(extra).flatMap(([name, value]) => {
    const sent = sentName(name, facts);
    return sent === undefined ? [] : [[sent, value] as const];
  });
  return Object.fromEntries(passed);
}

/**
 * Removes the values that are not sent to the vendor. The vendor renders and bills without them, so they must not
 * affect the price.
 */
export function asSent(request: GenerationRequest, facts: PlainFacts): GenerationRequest {
  return request.kind === 'video' ? videoAsSent(request, facts) : imageAsSent(request, facts);
}

function videoAsSent(request: VideoRequest, facts: PlainFacts): VideoRequest {
  const { resolution, ratio, duration, generateAudio, mode, extra, ...others } = request;
  const { service_tier: tier, ...parameters } = extra;
  const isSent = (name: FieldName) => facts.fields?.[name] === true;
  return {
    ...others,
    ...defined({
      resolution: isSent('resolution') ? resolution : undefined,
      ratio: isSent('ratio') ? ratio : undefined,
      duration: isSent('duration') ? duration : undefined,
      generateAudio: isSent('generate_audio') ? generateAudio : undefined,
      mode: isSent('mode') ? mode : undefined,
    }),
    extra: tier === undefined || !isUsed('service_tier', facts) ? parameters : extra,
  };
}

export function imageAsSent(
  { size, quality, ...others }: ImageRequest,
  { fields }: PlainFacts,
): ImageRequest {
  return defined({
    ...others,
    size: fields?.size === true ? size : undefined,
    quality: fields?.quality === true ? quality : undefined,
  });
}
