import { z } from 'zod';
import type { FaultSet } from '../fault.ts';
import { check } from '../wire.ts';
import { checkRunwayAssets } from './runway-assets.ts';
import { runwayBody } from './runway-body.ts';
import type { RunwayBody } from './runway-body.ts';
import { invalidField } from './runway-error.ts';
import { runwayModels } from './runway-models.ts';
import type { RunwayModel, RunwayPath, RunwayRow } from './runway-models.ts';

/** What a task has to remember of its request. */
export const runwayDetail = z.object({
  kind: z.enum(['video', 'image']),
  width: z.number(),
  height: z.number(),
  seconds: z.number(),
  images: z.number(),
  /** Hundredths of a credit. */
  charge: z.number(),
});
export type RunwayDetail = z.infer<typeof runwayDetail>;

/** @throws {RunwayError} 400, with the field in `issues`. */
export function settleRunway(
  raw: unknown,
  { path, model: name }: { readonly path: RunwayPath; readonly model: string },
  faults: FaultSet,
): RunwayDetail {
  const body = check(runwayBody, raw, ({ path: field, reason }) => invalidField(field, reason));
  const model = runwayModels[name];
  const row = model?.paths[path];
  if (model === undefined || row === undefined) throw invalidField('model', 'Invalid discriminator value');
  checkFields(body, row);
  checkPrompt(body, model);
  if (path === 'image_to_video') checkFrames(body, model);
  checkKeyframes(body);
  checkShape(body, row, model);
  if (name === 'gen4_image_turbo' && body.referenceImages?.length === 0)
    throw invalidField('referenceImages', 'at least 1');
  checkRunwayAssets(body);
  return settle(body, { path, name, row, model }, faults);
}

function checkFields(body: RunwayBody, { fields }: RunwayRow): void {
  const known = new Set(['model', ...fields.split(' ').map((field) => field.replace('*', ''))]);
  const unknown = Object.keys(body).find((field) => !known.has(field));
  if (unknown !== undefined) throw invalidField(unknown, `Unrecognized key: ${unknown}`);
  for (const [, required = ''] of fields.matchAll(/(\w+)\*/g))
    if (!Object.hasOwn(body, required)) throw invalidField(required, 'Required');
}

function checkPrompt({ promptText: prompt, referenceAudio }: RunwayBody, { promptMax }: RunwayModel): void {
  if (prompt === undefined && referenceAudio !== undefined) throw invalidField('promptText', 'Required');
  if (prompt !== undefined && (prompt === '' || prompt.length > promptMax))
    throw invalidField('promptText', `must have 1 to ${promptMax} UTF-16 code units`);
}

/** Frames stand with their positions, references without; a model that has no references wants the positions. */
function checkFrames({ promptImage, ratio }: RunwayBody, model: RunwayModel): void {
  if (!Array.isArray(promptImage)) return;
  const positions = promptImage.map(({ position }) => position);
  const isWanted = !model.paths.text_to_video?.fields.includes('references');
  if (positions.every((position) => position === undefined) && !isWanted) return;
  const isKnown = positions.every((position) => position !== undefined && model.positions.includes(position));
  const isTwice = new Set(positions).size < positions.length;
  if (!isKnown || isTwice || !positions.includes('first'))
    throw invalidField('promptImage', 'Invalid positions');
  const follows = model.paths.image_to_video?.ratios?.some((one) => one.startsWith('auto_')) === true;
  if (follows && ratio !== undefined && !ratio.startsWith('auto_'))
    throw invalidField('ratio', 'Keyframe requests must use auto_480p, auto_720p, or auto_1080p');
}

function checkKeyframes({ keyframes = [] }: RunwayBody): void {
  for (const [index, { seconds, at: moment }] of keyframes.entries())
    if ((seconds === undefined) === (moment === undefined))
      throw invalidField(`keyframes.${index}`, 'exactly one of seconds and at');
}

function checkShape(
  { ratio, resolution, duration, outputCount }: RunwayBody,
  { ratios, resolutions }: RunwayRow,
  { seconds, counts }: RunwayModel,
): void {
  if (outputCount !== undefined && counts?.includes(outputCount) === false)
    throw invalidField('outputCount', `Invalid value: ${outputCount}`);
  if (ratio !== undefined && ratios?.includes(ratio) === false)
    throw invalidField('ratio', `Invalid enum value: ${ratio}`);
  if (resolution !== undefined && resolutions?.includes(resolution) === false)
    throw invalidField('resolution', `Invalid enum value: ${resolution}`);
  if (duration !== undefined && !seconds.includes(duration))
    throw invalidField('duration', `Invalid value: ${duration}`);
}

/** Pixels of a landscape picture. */
const named: Readonly<Record<string, readonly [number, number]>> = {
  '480p': [854, 480],
  '720p': [1280, 720],
  '768p': [1366, 768],
  '1080p': [1920, 1080],
  '2k': [2560, 1440],
  auto_480p: [854, 480],
  auto_720p: [1280, 720],
  auto_1080p: [1920, 1080],
  auto: [1024, 1024],
  auto_1k: [1024, 1024],
  auto_2k: [2048, 2048],
};
const secondsDefault = 5;

interface Asked {
  readonly path: RunwayPath;
  readonly name: string;
  readonly row: RunwayRow;
  readonly model: RunwayModel;
}

/** Of a pair of pixels, or of a resolution, standing where the ratio does. */
function sizeOf(
  { resolution, ratio }: RunwayBody,
  { ratios, resolutions }: RunwayRow,
): readonly [number, number] {
  if (resolutions === undefined) {
    const shape = ratio ?? ratios?.[0] ?? '1280:720';
    const [width = 0, height = 0] = named[shape] ?? shape.split(':').map(Number);
    return [width, height];
  }
  const [long, short] = named[(resolution ?? resolutions[0] ?? '').toLowerCase()] ?? [1280, 720];
  const [wide = 16, high = 9] = ratio === 'adaptive' ? [] : (ratio ?? '16:9').split(':').map(Number);
  return wide >= high ? [long, short] : [short, long];
}

function settle(body: RunwayBody, { path, name, row, model }: Asked, faults: FaultSet): RunwayDetail {
  const isImage = path === 'text_to_image';
  const [width, height] = sizeOf(body, row);
  const numbers = model.seconds.filter((one) => one !== 'auto');
  const usual = numbers.includes(secondsDefault) ? secondsDefault : (numbers[0] ?? secondsDefault);
  const asInput = path === 'video_to_video' ? faults.number('input-seconds') : undefined;
  const asked = body.duration === 'auto' ? undefined : body.duration;
  const seconds = asked ?? asInput ?? usual;
  const images = isImage ? (body.outputCount ?? 1) : 0;
  const rate = model.credits({ width, height, isSilent: body.audio === false });
  const extra = body.outputFormat === 'prores' ? 5 : 0;
  const given = Array.isArray(body.promptImage) ? body.promptImage.length : 1;
  const inputs = name === 'hailuo3' && body.promptImage !== undefined ? 2 * given : 0;
  const credits = isImage ? rate * images : Math.max(model.creditsMin, (rate + extra) * seconds + inputs);
  return {
    kind: isImage ? 'image' : 'video',
    width,
    height,
    seconds: isImage ? 0 : seconds,
    images,
    charge: credits * 100,
  };
}
