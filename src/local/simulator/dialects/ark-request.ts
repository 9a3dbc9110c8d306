import { z } from 'zod';
import { check } from '../wire.ts';
import { ArkError, invalid, missing } from './ark-error.ts';
import { ratios } from './ark-models.ts';
import type { ArkModel } from './ark-models.ts';
import { readContent } from './ark-content.ts';
import type { Media } from './ark-content.ts';
import { inlineParameters } from './ark-inline.ts';

const executionExpiresAfterDefault = 172_800;
const durationDefault = 5;

/** Known fields are validated strictly, unknown ones ignored. */
const fieldsSchema = z.object({
  callback_url: z.url({ protocol: /^https?$/ }).optional(),
  return_last_frame: z.boolean().default(false),
  service_tier: z.enum(['default', 'flex']).default('default'),
  execution_expires_after: z.int().min(3600).max(259_200).default(executionExpiresAfterDefault),
  priority: z.int().min(0).max(9).optional(),
  generate_audio: z.boolean().optional(),
  draft: z.boolean().default(false),
  camera_fixed: z.boolean().optional(),
  watermark: z.boolean().optional(),
  seed: z.int().min(-1).max(4_294_967_295).optional(),
  resolution: z.enum(['480p', '720p', '1080p', '4k']).optional(),
  ratio: z.enum([...ratios, 'adaptive']).optional(),
  duration: z.int().optional(),
  frames: z.int().min(29).max(289).optional(),
  tools: z.array(z.object({ type: z.literal('web_search') })).optional(),
  safety_identifier: z.string().max(64).optional(),
  output_format: z.enum(['mp4', 'mov']).optional(),
  omni_reference_task_type: z.enum(['auto', 'edit', 'extend', 'reference']).default('auto'),
});
type Fields = z.infer<typeof fieldsSchema>;

/** A create that passed every check; `ratio` and `duration` may still be the model's choice. */
export interface ArkOrder {
  readonly fields: Fields;
  readonly media: Media;
  readonly resolution: string;
  /** `adaptive` when the model chooses. */
  readonly ratio: string;
  /** -1 when the model chooses. */
  readonly duration: number;
  readonly seed: number;
}

/** @throws {ArkError} 400 that names the field. */
export function readOrder(body: object, model: ArkModel): ArkOrder {
  const fields = check(fieldsSchema, body, ({ field, reason }) => invalid(field, reason));
  const media = readContent('content' in body ? body.content : undefined, model);
  checkFeatures(fields, model, media);
  const inline = inlineParameters(media.text);
  const resolution = fields.draft
    ? '480p'
    : (fields.resolution ?? supported(inline.resolution, model.resolutions));
  return {
    fields,
    media,
    resolution: resolution ?? model.defaultResolution,
    ratio: fields.ratio ?? supported(inline.ratio, [...ratios, 'adaptive']) ?? defaultRatio(model, media),
    duration: fields.duration ?? supportedDuration(inline.duration, model) ?? durationDefault,
    seed: fields.seed ?? inline.seed ?? -1,
  };
}

/** Inline parameters are validated weakly: what does not fit is as if it were absent. */
function supported(value: string | undefined, allowed: readonly string[]): string | undefined {
  return value !== undefined && allowed.includes(value) ? value : undefined;
}

function supportedDuration(value: number | undefined, model: ArkModel): number | undefined {
  return value !== undefined && isDuration(value, model) ? value : undefined;
}

function isDuration(value: number, { duration: [min, max], autoDuration }: ArkModel): boolean {
  return (value >= min && value <= max) || (value === -1 && autoDuration);
}

function defaultRatio(model: ArkModel, media: Media): string {
  if (model.adaptiveByDefault) return 'adaptive';
  return media.mode === 'frames' ? 'adaptive' : '16:9';
}

function checkFeatures(fields: Fields, model: ArkModel, media: Media): void {
  const { resolution, duration, frames } = fields;
  const [min, max] = model.duration;
  if (resolution !== undefined && !model.resolutions.includes(resolution)) {
    throw invalid('resolution', `${resolution} is not supported by the model`);
  }
  const references = media.mode === 'references';
  if (resolution === '1080p' && references && !model.videoAndAudioReferences) {
    throw invalid('resolution', '1080p is not supported with reference images');
  }
  if (frames !== undefined && !model.frames) throw invalid('frames', 'not supported by the model');
  if (frames !== undefined && (frames - 25) % 4 !== 0)
    throw invalid('frames', 'must be 25+4n within [29,289]');
  if (frames === undefined && duration !== undefined && !isDuration(duration, model)) {
    throw invalid('duration', `must be within ${min} and ${max}${model.autoDuration ? ', or -1' : ''}`);
  }
  const unsupported: readonly (readonly [field: string, isSet: boolean])[] = [
    ['service_tier', fields.service_tier === 'flex' && !model.flex],
    ['priority', fields.priority !== undefined && !model.priority],
    ['generate_audio', fields.generate_audio === true && !model.audio],
    ['draft', fields.draft && !model.draft],
    ['camera_fixed', fields.camera_fixed === true && (!model.cameraFixed || references)],
    ['tools', fields.tools !== undefined && !model.tools],
  ];
  for (const [field, isSet] of unsupported)
    if (isSet) throw invalid(field, 'not supported by the model or task type');
  if (fields.draft) checkDraft(fields);
  if (model.guessesTask) checkGuess(fields, media);
}

/** 2.5 takes a reference video for one to edit or to extend, unless the request says otherwise. */
function checkGuess({ ratio, duration, omni_reference_task_type: task }: Fields, media: Media): void {
  const hasVideo = media.videos.length > 0 && task !== 'reference';
  if (ratio !== undefined && ratio !== 'adaptive' && (hasVideo || media.mode === 'frames')) {
    throw invalid('ratio', 'TaskTypeConstraint: `ratio` must be adaptive');
  }
  if (hasVideo && task !== 'extend' && duration !== undefined && duration !== -1) {
    throw invalid(
      'duration',
      'TaskTypeConstraint: identified your task as video editing, where `duration` must be -1',
    );
  }
}

function checkDraft(fields: Fields): void {
  if (fields.resolution !== undefined && fields.resolution !== '480p')
    throw invalid('resolution', 'a draft is 480p');
  if (fields.return_last_frame) throw invalid('return_last_frame', 'not supported in draft mode');
  if (fields.service_tier === 'flex') throw invalid('service_tier', 'flex is not supported in draft mode');
}

/** @throws {ArkError} when it is absent. */
export function readModelName(body: unknown): string {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ArkError(400, 'InvalidParameter', 'The request body is not a JSON object.');
  }
  if (!('model' in body) || body.model === undefined || body.model === '') throw missing('model');
  if (typeof body.model !== 'string') throw invalid('model', 'must be a string');
  return body.model;
}

const textsSchema = z.object({
  content: z.array(z.object({ text: z.string().optional().catch(undefined) }).catch({})).catch([]),
  safety_identifier: z.string().catch(''),
});

/** Where faults may be named, read before anything is validated. */
export function readTexts(body: unknown): { prompt: string; endUser: string } {
  const { data } = textsSchema.safeParse(body);
  const texts = (data?.content ?? []).flatMap(({ text }) => text ?? []);
  return { prompt: texts.join('\n'), endUser: data?.safety_identifier ?? '' };
}
