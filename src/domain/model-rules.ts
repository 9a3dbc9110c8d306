import { defined } from './defined.ts';
import { GatewayError } from './errors.ts';
import type { VideoRequest } from './request.ts';

/** What a model's entry in the configuration says about requests. */
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
  readonly default?: number | undefined;
  readonly auto: boolean;
}

export interface FittedRequest {
  readonly request: VideoRequest;
  /** Fields that the model does not support and that were left out; named in the create response. */
  readonly warnings: readonly string[];
}

/** These change the price or the meaning of the result: rejected unless the model's entry says `ignore` for them. */
const significantFields = new Set(['resolution', 'duration', 'videos', 'input_type']);

/** Fits a request to its model: fills the default duration, rejects or drops what the model does not support. */
export function fitVideoRequest(request: VideoRequest, rules: VideoModelRules): FittedRequest {
  const warnings: string[] = [];
  const refuse = (field: string, message: string): undefined => {
    if (actionFor(rules.unsupported, field) === 'reject') {
      throw new GatewayError('unsupported_parameter', `${message} Model ${rules.id} does not support it.`, {
        param: field,
      });
    }
    warnings.push(field);
    return undefined;
  };
  if (!rules.input_types.includes(request.inputType)) {
    throw new GatewayError(
      'unsupported_parameter',
      `Model ${rules.id} accepts ${rules.input_types.join(', ')}, not ${request.inputType}.`,
      { param: 'input_type' },
    );
  }
  const { resolution, ratio, duration, images, videos, audios, ...rest } = request;
  const fitted: FittedOutput = {
    resolution: fitListed({ field: 'resolution', value: resolution, allowed: rules.resolutions }, refuse),
    ratio: fitListed({ field: 'ratio', value: ratio, allowed: rules.ratios }, refuse),
    duration: fitDuration(duration, rules, refuse),
  };
  const fit = (field: MediaField, urls: readonly string[]) =>
    fitMedia({ field, urls, max: rules.inputs[field].max }, refuse);
  const media = {
    images: fit('images', images),
    videos: fit('videos', videos),
    audios: fit('audios', audios),
  };
  return { request: { ...rest, ...media, ...definedOnly(fitted) }, warnings };
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

function actionFor(rule: UnsupportedRule, field: string): UnsupportedAction {
  if (typeof rule === 'string') return rule;
  return rule[field] ?? (significantFields.has(field) ? 'reject' : 'ignore');
}

interface ListedField {
  readonly field: string;
  readonly value: string | undefined;
  /** Empty: anything is. */
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
      : (refuse('duration', 'duration -1 lets the model decide.') ?? durations.default);
  }
  if (duration >= durations.min && duration <= durations.max) return duration;
  const message = `duration must be ${durations.min}-${durations.max} seconds, not ${duration}.`;
  return refuse('duration', message) ?? durations.default;
}

interface MediaInput {
  readonly field: MediaField;
  readonly urls: readonly string[];
  readonly max: number;
}

function fitMedia({ field, urls, max }: MediaInput, refuse: Refuse): readonly string[] {
  if (urls.length <= max) return urls;
  refuse(
    field,
    max === 0 ? `${field} is not accepted.` : `${field} accepts at most ${max}, not ${urls.length}.`,
  );
  return urls.slice(0, max);
}
