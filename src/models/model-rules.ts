import { defined } from '../base/defined.ts';
import { nameFieldInMessage } from '../base/field-in-message.ts';
import { GatewayError } from '../errors/errors.ts';
import { imagesOf, inputTypeOf } from './media-roles.ts';
import type { VideoMedia, VideoRequest } from './request.ts';

export interface VideoModelRules {
  readonly id: string;
  readonly input_types: readonly string[];
  readonly resolutions: readonly string[];
  readonly ratios: readonly string[];
  readonly durations?: DurationRule | undefined;
  readonly inputs: Readonly<Record<MediaField, { readonly max: number }>>;
  readonly unsupported: UnsupportedRule;
}

type MediaField = 'images' | 'videos' | 'audios';
type UnsupportedAction = 'reject' | 'ignore';
type UnsupportedRule = UnsupportedAction | Readonly<Record<string, UnsupportedAction>>;

interface DurationRule {
  readonly min: number;
  readonly max: number;
  /** In seconds. Allowed lengths are multiples of this value. */
  readonly step: number;
  readonly default?: number | undefined;
  readonly auto: boolean;
}

export interface FittedRequest {
  readonly request: VideoRequest;
  readonly warnings: readonly string[];
}

/** Never ignored, even if the model's entry says `ignore`. Without them, the caller would pay for a different video. */
const media = new Set(['images', 'videos', 'audios']);

/** These fields change the result's price or meaning, so they are rejected unless the model's entry says `ignore`. */
const significantFields = new Set(['resolution', 'duration', 'input_type']);

/**
 * Fills in the default duration, and rejects or drops whatever the model does not support. Errors and warnings use the
 * field names that `nameOf` returns.
 */
export function fitVideoRequest(
  request: VideoRequest,
  rules: VideoModelRules,
  nameOf: NameOf = (field) => field,
): FittedRequest {
  const warnings: string[] = [];
  const refuse = (field: string, message: string): undefined => {
    if (actionFor(rules.unsupported, field) === 'reject') {
      const param = nameOf(field);
      const reason = `${nameFieldInMessage(message, field, param)} Model ${rules.id} does not support it.`;
      throw new GatewayError('unsupported_parameter', reason, { param });
    }
    warnings.push(nameOf(field));
    return undefined;
  };
  checkInputType(request, rules, nameOf);
  const { resolution, ratio, duration, ...rest } = request;
  const fitted: FittedOutput = {
    resolution: fitListed({ field: 'resolution', value: resolution, allowed: rules.resolutions }, refuse),
    ratio: fitListed({ field: 'ratio', value: ratio, allowed: rules.ratios }, refuse),
    duration: fitDuration(duration, rules, refuse),
  };
  const refuseBeyond = (field: MediaField, count: number): void => {
    const { max } = rules.inputs[field];
    if (count <= max) return;
    refuse(field, max === 0 ? `${field} is not accepted.` : `${field} accepts at most ${max}, not ${count}.`);
  };
  refuseBeyond('images', imagesOf(request).length);
  refuseBeyond('videos', request.videos.length);
  refuseBeyond('audios', request.audios.length);
  return { request: { ...rest, ...definedOnly(fitted) }, warnings };
}

export type NameOf = (field: string) => string;

function checkInputType(
  media: VideoMedia,
  { id, input_types: accepted }: VideoModelRules,
  nameOf: NameOf,
): void {
  const asked = inputTypeOf(media);
  if (accepted.includes(asked)) return;
  const isText = accepted.every((type) => type === 'text_to_video');
  const words = isText ? 'text only' : `${accepted.join(', ')}, not ${asked}`;
  throw new GatewayError('unsupported_parameter', `Model ${id} accepts ${words}.`, {
    param: nameOf('input_type'),
  });
}

interface FittedOutput {
  readonly resolution: string | undefined;
  readonly ratio: string | undefined;
  readonly duration: VideoRequest['duration'] | undefined;
}

function definedOnly({
  resolution,
  ratio,
  duration,
}: FittedOutput): Pick<VideoRequest, 'resolution' | 'ratio' | 'duration'> {
  return {
    ...defined({ resolution }),
    ...defined({ ratio }),
    ...defined({ duration }),
  };
}

type Refuse = (field: string, message: string) => undefined;

export function isIgnored({ unsupported }: VideoModelRules, field: string): boolean {
  return actionFor(unsupported, field) === 'ignore';
}

function actionFor(rule: UnsupportedRule, field: string): UnsupportedAction {
  if (media.has(field)) return 'reject';
  if (typeof rule === 'string') return rule;
  return rule[field] ?? (significantFields.has(field) ? 'reject' : 'ignore');
}

interface ListedField {
  readonly field: string;
  readonly value: string | undefined;
  readonly allowed: readonly string[];
}

function fitListed({ field, value, allowed }: ListedField, refuse: Refuse): string | undefined {
  if (value === undefined || allowed.length === 0 || allowed.includes(value)) return value;
  return refuse(field, `${field} must be one of ${allowed.join(', ')}, not ${value}.`);
}

function fitDuration(
  duration: VideoRequest['duration'] | undefined,
  { durations }: VideoModelRules,
  refuse: Refuse,
): VideoRequest['duration'] | undefined {
  if (durations === undefined || duration === undefined) return duration ?? durations?.default;
  if (duration === 'auto') {
    return durations.auto
      ? duration
      : (refuse('duration', 'duration must not be -1 (the model’s own choice).') ?? durations.default);
  }
  const { min, max, step } = durations;
  if (duration >= min && duration <= max && isMultiple(duration, step)) return duration;
  const steps = step === 1 ? 'whole seconds' : `seconds in steps of ${step}`;
  const message = `duration must be ${min}-${max} ${steps}, not ${duration}.`;
  return refuse('duration', message) ?? durations.default;
}

export function isMultiple(seconds: number, step: number): boolean {
  const steps = seconds / step;
  return Math.abs(steps - Math.round(steps)) < 1e-6;
}
