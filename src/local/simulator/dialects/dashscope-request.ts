import { z } from 'zod';
import type { FaultSet } from '../fault.ts';
import { check, parseJson } from '../wire.ts';
import type { WireRequest } from '../wire.ts';
import { DashScopeError, dashScopeProblems, invalidParameter } from './dashscope-error.ts';
import { findDashScopeModel, services, videoRatios, videoSize } from './dashscope-models.ts';
import type { DashScopeModel } from './dashscope-models.ts';

/** What a task renders; `refusal` is a parameter mistake, reported only when the task is polled. */
export const dashScopeDetail = z.object({
  kind: z.enum(['video', 'image']),
  /** Results in chat form. */
  chat: z.boolean(),
  width: z.number(),
  height: z.number(),
  seconds: z.number(),
  /** Of the videos that were given. */
  inputSeconds: z.number().optional(),
  images: z.number(),
  ratio: z.string(),
  watermark: z.boolean(),
  extended: z.boolean(),
  fullUsage: z.boolean(),
  refusal: z.string().optional(),
});
export type DashScopeDetail = z.infer<typeof dashScopeDetail>;

const messageSchema = z.object({
  role: z.string(),
  content: z.array(z.object({ text: z.string().optional(), image: z.string().optional() })).min(1),
});
const bodySchema = z.object({
  model: z.string().min(1),
  input: z.looseObject({ prompt: z.string().optional(), messages: z.array(messageSchema).min(1).optional() }),
  parameters: z.record(z.string(), z.unknown()).default({}),
});
export type DashScopeBody = z.infer<typeof bodySchema>;

const secondsDefault = 5;

/** @throws {DashScopeError} 400: of the body only the outline is checked here. */
export function readDashScopeBody(request: WireRequest): DashScopeBody {
  return check(bodySchema, parseJson(request.body), ({ path }) =>
    invalidParameter(`Required body invalid, please check the request body format. ${path}`.trim()),
  );
}

export function promptOf({ input }: DashScopeBody): string {
  const texts = (input.messages ?? []).flatMap(({ content }) => content.flatMap(({ text }) => text ?? []));
  return input.prompt ?? texts.join('\n');
}

/** @throws {DashScopeError} for an unknown model, a wrong path or a missing input: what a submit is refused for. */
export function checkSubmit(body: DashScopeBody, model: string, service: string): DashScopeModel {
  const found = findDashScopeModel(model);
  if (found === undefined) throw dashScopeProblems['not-found'];
  if (!found.services.includes(service)) throw invalidParameter('url error, please check url！');
  // One model may be served in two forms: as a chat, and by its prompt alone.
  const needs = service === services.multimodal ? ['messages'] : found.needs;
  for (const field of needs) {
    if (body.input[field] !== undefined && body.input[field] !== '') continue;
    throw new DashScopeError(400, 'InvalidParameter', `input.${field} is required.`);
  }
  return found;
}

const numberIn = (value: unknown, min: number, max: number): boolean =>
  value === undefined ||
  (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max);

/** The first mistake in `parameters`; undefined when there is none. */
function findMistake(
  parameters: Readonly<Record<string, unknown>>,
  model: DashScopeModel,
): string | undefined {
  const { size, resolution, ratio, duration, n, seed } = parameters;
  if (!isSize(size, model)) return `The size is not match ${JSON.stringify(size)}`;
  if (!isOneOf(resolution, model.resolutions))
    return `The resolution is not supported: ${JSON.stringify(resolution)}`;
  const isChosen = ratio === 'adaptive' && model.durations.includes(-1);
  if (ratio !== undefined && !isChosen && !(model.fullUsage && isOneOf(ratio, videoRatios)))
    return `The ratio is not supported: ${JSON.stringify(ratio)}`;
  if (duration !== undefined && !(typeof duration === 'number' && model.durations.includes(duration))) {
    return `The duration is not supported: ${JSON.stringify(duration)}`;
  }
  if (!numberIn(n, 1, model.imagesMax)) return `The n must be between 1 and ${model.imagesMax}`;
  if (!numberIn(seed, 0, 2_147_483_647)) return 'The seed must be between 0 and 2147483647';
  const flags = ['prompt_extend', 'watermark', 'audio'];
  const notFlag = flags.find(
    (flag) => parameters[flag] !== undefined && typeof parameters[flag] !== 'boolean',
  );
  return notFlag === undefined ? undefined : `The ${notFlag} must be a boolean`;
}

function isOneOf(value: unknown, allowed: readonly string[]): boolean {
  return value === undefined || (typeof value === 'string' && allowed.includes(value));
}

function isSize(size: unknown, { sizes, side }: DashScopeModel): boolean {
  if (size === undefined) return true;
  if (typeof size !== 'string') return false;
  if (side === undefined) return sizes.includes(size);
  const match = /^(\d{2,5})\*(\d{2,5})$/.exec(size);
  const [min, max] = side;
  return match !== null && match.slice(1).every((text) => Number(text) >= min && Number(text) <= max);
}

/** Settles what is rendered. A mistake in the parameters does not refuse the submit: it fails the task. */
export function settleDashScope(
  body: DashScopeBody,
  model: DashScopeModel,
  service: string,
  faults: FaultSet,
): DashScopeDetail {
  const { parameters } = body;
  const refusal = findMistake(parameters, model);
  const { size, resolution, ratio, duration, n } = refusal === undefined ? parameters : {};
  const shape = typeof ratio === 'string' && ratio !== 'adaptive' ? ratio : (faults.text('ratio') ?? '16:9');
  const inferred =
    model.resolutions.length > 0
      ? videoSize(typeof resolution === 'string' ? resolution : '720P', shape)
      : model.defaultSize;
  const [width = 0, height = 0] = (typeof size === 'string' ? size : inferred).split('*').map(Number);
  return {
    kind: model.kind,
    chat: service === services.multimodal || service === services.imageGeneration,
    width,
    height,
    seconds: typeof duration === 'number' && duration > 0 ? duration : secondsDefault,
    inputSeconds: hasVideo(body) ? (faults.number('input-seconds') ?? secondsDefault) : 0,
    images: typeof n === 'number' ? n : 1,
    ratio: shape,
    watermark: parameters['watermark'] === true,
    extended: parameters['prompt_extend'] !== false,
    fullUsage: model.fullUsage,
    refusal,
  };
}

const mediaSchema = z.array(z.object({ type: z.string() }));
const videoTypes = ['reference_video', 'first_clip', 'video'];

function hasVideo({ input }: DashScopeBody): boolean {
  const media = mediaSchema.safeParse(input['media']).data ?? [];
  return media.some(({ type }) => videoTypes.includes(type));
}
