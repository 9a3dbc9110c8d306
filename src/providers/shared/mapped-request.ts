import { defined } from '../../base/defined.ts';
import { parseSize } from '../../base/image-sizes.ts';
import type { GenerationRequest, ImageRequest, JsonValue, VideoRequest } from '../../models/request.ts';
import type { RequestIssue, SubmitContext } from '../provider.ts';
import { formOf, inputsOf, itemsMax, ruleNames } from '../../models/field-mapping.ts';
import type { FieldMapping, FieldRule, MappedField, MappedInput } from '../../models/field-mapping.ts';
import type { OutgoingJson, OutgoingObject } from './file-data-url.ts';
import { inputTypeOf } from '../../models/media-roles.ts';
import { passedOn } from '../../models/facts-of-request.ts';
import { mappedImageFacts, mappedVideoFacts } from './mapped-facts.ts';
import { readFacts } from './read-facts.ts';
import { imageAddress } from './image-input.ts';

type Asked = OutgoingJson | undefined;

function mappedInputOf(request: GenerationRequest): MappedInput {
  return request.kind === 'video' ? inputTypeOf(request) : request.images.length > 0 ? 'edit' : 'generate';
}

/** `check` has already verified that the mapping has a model name for this kind of input. */
export function mappedEndpoint(request: GenerationRequest, mapping: FieldMapping, upstream: string): string {
  return mapping.endpoints?.[mappedInputOf(request)] ?? upstream;
}

export function mappedIssue(request: GenerationRequest, mapping: FieldMapping): RequestIssue | undefined {
  const input = mappedInputOf(request);
  const { endpoints } = mapping;
  if (endpoints !== undefined && endpoints[input] === undefined) {
    const param = request.kind === 'video' ? 'input_type' : 'image';
    return { param, message: `The model does not accept ${input} requests.` };
  }
  const elsewhere = request.kind === 'video' ? videoIssue(request) : undefined;
  if (elsewhere !== undefined) return elsewhere;
  for (const [field, value] of askedFields(request)) {
    const issue = fieldIssue(field, value, { request, mapping });
    if (issue !== undefined) return issue;
  }
  return undefined;
}

/**
 * Builds the body from the mapped fields only. Fields that callers may add come first, so they cannot overwrite ours.
 */
export function mappedBody(
  request: GenerationRequest,
  mapping: FieldMapping,
  { marker, facts }: Pick<SubmitContext, 'marker' | 'facts'>,
): OutgoingObject {
  const input = mappedInputOf(request);
  const source = request.kind === 'video' ? mappedVideoFacts : mappedImageFacts;
  const own = readFacts(request, source, { model: '', ...defined({ mapping, facts }) });
  const entries: [string, OutgoingJson][] = Object.entries(passedOn(request, own));
  entries.push(...Object.entries(mapping.constants));
  for (const [field, value] of askedFields(request)) {
    const rule = mapping.fields[field];
    if (rule !== undefined && inputsOf(field, rule).includes(input))
      entries.push(...written(field, rule, value));
  }
  if (mapping.marker !== undefined) entries.push([mapping.marker, marker]);
  return Object.fromEntries(entries);
}

function askedFields(request: GenerationRequest): (readonly [MappedField, OutgoingJson])[] {
  const asked = request.kind === 'video' ? videoFields(request) : imageFields(request);
  return asked.flatMap(([field, value]) => (value === undefined ? [] : [[field, value] as const]));
}

function videoFields(request: VideoRequest): (readonly [MappedField, Asked])[] {
  const { firstFrame, lastFrame, references, videos, audios } = request;
  const some = (list: readonly string[]): Asked => (list.length === 0 ? undefined : list);
  return [
    ['prompt', request.prompt === '' ? undefined : request.prompt],
    ['mode', request.mode],
    ['first_frame', firstFrame],
    ['last_frame', lastFrame],
    ['images', some(references)],
    ['videos', some(videos)],
    ['audios', some(audios)],
    ['resolution', request.resolution],
    ['ratio', request.ratio],
    ['duration', request.duration],
    ['seed', request.seed],
    ['generate_audio', request.generateAudio],
    ['watermark', request.watermark],
    ['draft', request.draft],
    ['return_last_frame', request.returnLastFrame],
    ['safety_identifier', request.safetyIdentifier],
  ];
}

function imageFields(request: ImageRequest): (readonly [MappedField, Asked])[] {
  const { prompt, images, mask, n, size, quality } = request;
  return [
    ['prompt', prompt],
    ['images', images.length === 0 ? undefined : images.map(imageAddress)],
    ['mask', mask === undefined ? undefined : imageAddress(mask)],
    ['n', n],
    ['size', size],
    ['quality', quality],
  ];
}

function videoIssue({ tools }: VideoRequest): RequestIssue | undefined {
  return tools === undefined
    ? undefined
    : { param: 'metadata.tools', message: 'The model does not accept tools.' };
}

const params: Partial<Record<MappedField, string>> = {
  images: 'references',
  seed: 'metadata.seed',
  generate_audio: 'metadata.generate_audio',
  watermark: 'metadata.watermark',
  draft: 'metadata.draft',
  return_last_frame: 'metadata.return_last_frame',
  safety_identifier: 'metadata.safety_identifier',
};

interface Asking {
  readonly request: GenerationRequest;
  readonly mapping: FieldMapping;
}

function fieldIssue(field: MappedField, value: OutgoingJson, asking: Asking): RequestIssue | undefined {
  const { request, mapping } = asking;
  const rule = mapping.fields[field];
  const isImage = request.kind === 'image' && field === 'images';
  const refuse = (message: string): RequestIssue => ({
    param: isImage ? 'image' : (params[field] ?? field),
    message,
  });
  if (rule === undefined || !inputsOf(field, rule).includes(mappedInputOf(request)))
    return isDispensable(field, value)
      ? undefined
      : refuse(`The model does not accept ${field} for this request.`);
  if (rule.fixed !== undefined)
    return rule.fixed.includes(textOf(value))
      ? undefined
      : refuse(`${field} must be ${rule.fixed.join(' or ')}.`);
  if (value === 'auto' && field === 'duration')
    return rule.auto === undefined ? refuse('The model cannot choose the duration.') : undefined;
  if (rule.values !== undefined && !Object.hasOwn(rule.values, textOf(value)))
    return refuse(`${field} must be one of ${Object.keys(rule.values).join(', ')}.`);
  if (Array.isArray(value) && value.length > itemsMax(field, rule))
    return refuse(`The model accepts at most ${itemsMax(field, rule)} for this request.`);
  const needsPixels = rule.values === undefined && (rule.form === 'object' || rule.form === 'sides');
  return needsPixels && parseSize(textOf(value)) === undefined
    ? refuse('size must be <width>x<height>.')
    : undefined;
}

/** Returns true for a value without any effect. It can be dropped if the upstream has no field for it. */
function isDispensable(field: MappedField, value: OutgoingJson): boolean {
  if (field === 'safety_identifier') return true;
  if (field === 'n') return value === 1;
  return value === false && (field === 'watermark' || field === 'draft' || field === 'return_last_frame');
}

function written(field: MappedField, rule: FieldRule, value: OutgoingJson): [string, OutgoingJson][] {
  const names = ruleNames(rule);
  const [name] = names;
  if (name === undefined) return [];
  const form = formOf(field, rule);
  if (form === 'one' || form === 'list') {
    const items = Array.isArray(value) ? listOf(value) : [value];
    if (names.length > 1) return names.flatMap((each, index) => entryOf(each, items[index]));
    return entryOf(name, form === 'list' ? items : items[0]);
  }
  if (value === 'auto' && field === 'duration') return entryOf(name, rule.auto);
  if (rule.values !== undefined) return entryOf(name, rule.values[textOf(value)]);
  return writtenText(names, form, value);
}

function writtenText(
  names: readonly string[],
  form: FieldRule['form'],
  value: OutgoingJson,
): [string, OutgoingJson][] {
  const [name = '', second = ''] = names;
  const text = textOf(value);
  if (form === 'text') return [[name, text]];
  if (form === 'seconds') return [[name, `${text}s`]];
  if (form !== 'object' && form !== 'sides') return [[name, value]];
  const pixels = parseSize(text);
  if (pixels === undefined) return [];
  if (form === 'object') return [[name, { ...pixels }]];
  return [
    [name, pixels.width],
    [second, pixels.height],
  ];
}

/** Objects are media, which have no text form, so they become ''. */
function textOf(value: OutgoingJson): string {
  return typeof value === 'object' ? '' : String(value);
}

function entryOf(name: string, value: Asked | JsonValue): [string, OutgoingJson][] {
  return value === undefined ? [] : [[name, value]];
}

function listOf(value: readonly OutgoingJson[]): readonly OutgoingJson[] {
  return value;
}
