import { isMultiple } from './model-rules.ts';
import { broughtBy, isListed, type FactsBasis } from './facts-of-request.ts';
import type { LengthFacts, MediaFacts, MediaPart, ParameterFacts, PlainFacts } from './model-facts.ts';
import type { JsonObject, JsonValue, VideoRequest } from './request.ts';

export interface FactsIssue {
  readonly param: string;
  readonly message: string;
}

export function factsIssue(request: VideoRequest, facts: PlainFacts): FactsIssue | undefined {
  return (
    mediaIssue(request, facts.media) ??
    promptIssue(request, facts) ??
    addressIssue(request, facts) ??
    switchIssue(request, facts) ??
    shapeIssue(request, facts) ??
    (facts.fields?.duration === true ? lengthIssue(request.duration, facts.seconds) : undefined) ??
    soundIssue(request, facts) ??
    parametersIssue(request, facts) ??
    absenceIssue(request, facts)
  );
}

const nouns: Readonly<Record<MediaPart, string>> = {
  first_frame: 'a first frame',
  last_frame: 'a last frame',
  references: 'reference images',
  videos: 'a video',
  audios: 'audio',
};

const anyOf = (parts: readonly MediaPart[]): string => parts.map((part) => nouns[part]).join(' or ');

function mediaIssue(request: VideoRequest, facts: MediaFacts | undefined): FactsIssue | undefined {
  if (facts === undefined) return undefined;
  const { needs, accompanied = [], total } = facts;
  const issue = partsIssue(request, facts);
  if (issue !== undefined) return issue;
  const brought = broughtBy(request);
  const [needed] = needs ?? [];
  if (needs !== undefined && needed !== undefined && !needs.some((part) => brought.has(part)))
    return { param: needed, message: `The model needs ${anyOf(needs)} here.` };
  const lonely = accompanied.find((kind) => brought.has(kind));
  if (lonely !== undefined && ![...brought].some((part) => part !== lonely && part !== 'audios'))
    return { param: lonely, message: `The model needs an image or a video in addition to ${nouns[lonely]}.` };
  const count = request.references.length + request.videos.length + request.audios.length;
  return total !== undefined && count > total
    ? { param: 'references', message: `The model accepts at most ${total} files.` }
    : undefined;
}

function partsIssue(request: VideoRequest, { frames = 2, ...facts }: MediaFacts): FactsIssue | undefined {
  if (request.firstFrame !== undefined && frames === 0)
    return { param: 'first_frame', message: 'The model does not accept a first frame.' };
  if (request.lastFrame !== undefined && frames < 2)
    return { param: 'last_frame', message: 'The model accepts a first frame, but no last frame.' };
  for (const kind of ['references', 'videos', 'audios'] as const) {
    const { [kind]: max = Infinity, beside_frames: beside = [] } = facts;
    const count = request[kind].length;
    if (count > max)
      return {
        param: kind,
        message:
          max === 0
            ? `The model does not accept ${nouns[kind]}.`
            : `The model accepts at most ${max} ${kind}.`,
      };
    if (count > 0 && request.firstFrame !== undefined && !beside.includes(kind))
      return { param: kind, message: `The model does not accept ${nouns[kind]} together with frames.` };
  }
  return undefined;
}

export function promptIssue(
  request: FactsBasis & Pick<VideoRequest, 'prompt'>,
  { prompt: facts = {} }: PlainFacts,
): FactsIssue | undefined {
  const { characters = Infinity, wordless } = facts;
  if (request.prompt.length > characters)
    return { param: 'prompt', message: `The prompt must not exceed ${characters} characters.` };
  if (request.prompt.trim() !== '' || wordless === undefined) return undefined;
  const brought = broughtBy(request);
  return wordless.some((part) => brought.has(part))
    ? undefined
    : { param: 'prompt', message: 'The model needs a prompt for this request.' };
}

function addressIssue(request: VideoRequest, { addresses }: PlainFacts): FactsIssue | undefined {
  if (addresses === undefined) return undefined;
  const { images, videos, audios, characters = Infinity } = addresses;
  const { firstFrame = [], lastFrame = [] } = request;
  const lists: readonly (readonly [string, readonly string[], readonly string[] | undefined])[] = [
    ['first_frame', [firstFrame].flat(), images],
    ['last_frame', [lastFrame].flat(), images],
    ['references', request.references, images],
    ['videos', request.videos, videos],
    ['audios', request.audios, audios],
  ];
  for (const [part, list, schemes] of lists) {
    const index = list.findIndex((address) => !isFetched(address, schemes, characters));
    if (index < 0) continue;
    const param = part.endsWith('_frame') ? part : `${part}[${index}]`;
    return { param, message: addressesInWords(schemes, characters) };
  }
  return undefined;
}

export function addressesInWords(schemes: readonly string[] | undefined, characters: number): string {
  const forms = schemes === undefined ? 'addresses' : schemes.join(', ');
  const most = characters === Infinity ? '' : ` of at most ${characters} characters`;
  return `The upstream accepts ${forms}${most} here.`;
}

export function isFetched(
  address: string,
  schemes: readonly string[] | undefined,
  characters: number,
): boolean {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(address)?.[1]?.toLowerCase() ?? '';
  const isKnown = schemes === undefined || schemes.includes(scheme);
  return isKnown && (scheme === 'data' || address.length <= characters);
}

/**
 * Rejects a request that sets one of these fields if the model lacks it. Callers rely on these fields, so ignoring them
 * would be wrong.
 */
function switchIssue(request: VideoRequest, { fields = {}, seed: span }: PlainFacts): FactsIssue | undefined {
  const { draft, tools, seed, watermark } = request;
  const refuse = (name: string, message: string) => ({ param: `metadata.${name}`, message });
  if (draft === true && fields.draft !== true)
    return refuse('draft', 'The model has no draft mode for this request.');
  if (tools !== undefined && fields.tools !== true)
    return refuse('tools', 'The model does not accept tools for this request.');
  if (seed !== undefined && fields.seed !== true)
    return refuse('seed', 'The model does not accept a seed for this request.');
  if (seed !== undefined && span !== undefined && (seed < span.min || seed > span.max))
    return refuse('seed', `seed must be from ${span.min} to ${span.max}.`);
  return watermark === true && fields.watermark !== true
    ? refuse('watermark', 'The model cannot add a watermark for this request.')
    : undefined;
}

export function shapeIssue(
  { resolution, ratio }: Pick<VideoRequest, 'resolution' | 'ratio'>,
  facts: PlainFacts,
): FactsIssue | undefined {
  const { resolutions, ratios, fields = {} } = facts;
  const isSold = (value: string | undefined, list: readonly string[] | undefined): boolean =>
    value === undefined || list === undefined || isListed(value, list);
  if (fields.resolution === true && !isSold(resolution, resolutions))
    return { param: 'resolution', message: oneOf('resolution', resolutions) };
  return fields.ratio === true && !isSold(ratio, ratios)
    ? { param: 'ratio', message: oneOf('ratio', ratios) }
    : undefined;
}

export function oneOf(name: string, list: readonly unknown[] = []): string {
  return list.length === 0
    ? `The model does not accept a ${name} for this request.`
    : `${name} must be one of ${list.join(', ')}.`;
}

function lengthIssue(
  duration: VideoRequest['duration'],
  facts: LengthFacts | undefined,
): FactsIssue | undefined {
  if (duration === undefined || facts === undefined) return undefined;
  const refuse = (message: string) => ({ param: 'duration', message });
  if (duration === 'auto')
    return facts.auto === true ? undefined : refuse('The model cannot choose the duration.');
  const { only, min = 0, max = Infinity, step = 1 } = facts;
  if (only !== undefined) return only.includes(duration) ? undefined : refuse(oneOf('duration', only));
  if (duration >= min && duration <= max && isMultiple(duration, step)) return undefined;
  const steps = step === 1 ? 'a whole number of seconds' : `in steps of ${step} seconds,`;
  return refuse(`duration must be ${steps} from ${min}${max === Infinity ? '' : ` to ${max}`}.`);
}

function soundIssue({ generateAudio }: VideoRequest, { sound }: PlainFacts): FactsIssue | undefined {
  const refuse = (message: string) => ({ param: 'metadata.generate_audio', message });
  if (generateAudio === undefined || sound === undefined || sound === 'choice') return undefined;
  if (sound === 'fixed') return refuse('A request cannot choose whether this model generates audio.');
  if (generateAudio === (sound === 'always')) return undefined;
  return refuse(
    sound === 'always'
      ? 'The model always generates audio for such a request.'
      : 'The model does not generate audio for such a request.',
  );
}

function parametersIssue({ extra }: VideoRequest, { parameters }: PlainFacts): FactsIssue | undefined {
  const issue = parameterIssue(extra, parameters);
  return issue === undefined ? undefined : { ...issue, param: `metadata.${issue.param}` };
}

function absenceIssue(request: VideoRequest, facts: PlainFacts): FactsIssue | undefined {
  const { resolution, ratio, duration } = request;
  const issue = missingIssue({ ...request.extra, resolution, ratio, duration }, facts);
  if (issue === undefined) return undefined;
  const isField = Object.hasOwn({ resolution, ratio, duration }, issue.param);
  return isField ? issue : { ...issue, param: `metadata.${issue.param}` };
}

export function missingIssue(
  values: Readonly<Record<string, unknown>>,
  { required = [] }: PlainFacts,
): FactsIssue | undefined {
  const missing = required.find((name) => !Object.hasOwn(values, name) || values[name] === undefined);
  return missing === undefined ? undefined : { param: missing, message: `The model needs ${missing} here.` };
}

export function parameterIssue(
  extra: JsonObject,
  parameters: PlainFacts['parameters'] = {},
): FactsIssue | undefined {
  for (const [name, facts] of Object.entries(parameters)) {
    const value = Object.hasOwn(extra, name) ? extra[name] : undefined;
    const rule = value === undefined ? undefined : brokenRule(value, facts);
    if (rule !== undefined) return { param: name, message: `${name} must be ${rule}.` };
  }
  return undefined;
}

const types: Readonly<
  Record<NonNullable<ParameterFacts['type']>, readonly [noun: string, is: (value: JsonValue) => boolean]>
> = {
  text: ['a text', (value) => typeof value === 'string'],
  number: ['a number', (value) => typeof value === 'number'],
  integer: ['a whole number', Number.isInteger],
  flag: ['true or false', (value) => typeof value === 'boolean'],
  list: ['a list', Array.isArray],
  object: ['an object', (value) => typeof value === 'object' && value !== null && !Array.isArray(value)],
};

function brokenRule(value: JsonValue, { type, min, max, values }: ParameterFacts): string | undefined {
  if (type !== undefined && !types[type][1](value)) return types[type][0];
  if (values !== undefined && !values.some((one) => one === value))
    return values.length === 0 ? 'absent here' : `one of ${values.join(', ')}`;
  if (min !== undefined && !(typeof value === 'number' && value >= min)) return `at least ${min}`;
  return max !== undefined && !(typeof value === 'number' && value <= max) ? `at most ${max}` : undefined;
}
