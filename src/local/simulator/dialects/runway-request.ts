import { z } from 'zod';
import type { FaultSet } from '../fault.ts';
import { check } from '../wire.ts';
import { checkRunwayAssets } from './runway-assets.ts';
import { runwayBody } from './runway-body.ts';
import type { RunwayBody } from './runway-body.ts';
import { invalidField } from './runway-error.ts';
import { runwayModels } from './runway-models.ts';
import type { RunwayModel, RunwayPath } from './runway-models.ts';

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

/** Fields that every model of a path has. */
const common: Readonly<Record<RunwayPath, readonly string[]>> = {
  text_to_video: ['promptText', 'duration'],
  image_to_video: ['promptText', 'promptImage', 'duration'],
  video_to_video: ['promptText', 'promptVideo', 'videoUri', 'duration'],
  text_to_image: ['promptText'],
};

/** @throws {RunwayError} 400, with the field in `issues`. */
export function settleRunway(
  raw: unknown,
  { path, model: name }: { readonly path: RunwayPath; readonly model: string },
  faults: FaultSet,
): RunwayDetail {
  const body = check(runwayBody, raw, ({ path: field, reason }) => invalidField(field, reason));
  const model = runwayModels[name];
  if (model === undefined || !Object.hasOwn(model.paths, path))
    throw invalidField('model', 'Invalid discriminator value');
  checkFields(body, path, model);
  checkPrompt(body, path, model);
  checkInputs(body, path, { name, model });
  checkShape(body, path, { name, model });
  checkRunwayAssets(body);
  return settle(body, { path, name, model }, faults);
}

function checkFields(body: RunwayBody, path: RunwayPath, model: RunwayModel): void {
  const hasRatio = model.paths[path]?.length !== 0;
  const shape = [
    ...(hasRatio ? ['ratio'] : []),
    ...(model.resolutions[path] === undefined ? [] : ['resolution']),
  ];
  const known = ['model', ...common[path], ...shape, ...model.fields];
  const unknown = Object.keys(body).find((field) => !known.includes(field));
  if (unknown !== undefined) throw invalidField(unknown, `Unrecognized key: ${unknown}`);
}

function checkPrompt(
  { promptText: prompt, referenceAudio }: RunwayBody,
  path: RunwayPath,
  model: RunwayModel,
): void {
  const [min, max] = model.prompt;
  const isNeeded = path.startsWith('text_') || referenceAudio !== undefined;
  if (prompt === undefined && isNeeded) throw invalidField('promptText', 'Required');
  const length = prompt?.length ?? min;
  if (length < min || length > max)
    throw invalidField('promptText', `must have ${min} to ${max} UTF-16 code units`);
}

function checkInputs(
  body: RunwayBody,
  path: RunwayPath,
  { name, model }: { readonly name: string; readonly model: RunwayModel },
): void {
  const { promptImage, promptVideo, videoUri, keyframes } = body;
  const positions = Array.isArray(promptImage)
    ? promptImage.map(({ position }) => position)
    : ['first' as const];
  if (path === 'image_to_video') {
    if (promptImage === undefined) throw invalidField('promptImage', 'Required');
    const references = positions.filter((position) => position === undefined).length;
    if (references > 0 && !(model.fields.includes('references') && references === positions.length))
      throw invalidField('promptImage', 'position is required');
    const isKnown = positions.every(
      (position) => position === undefined || model.positions.includes(position),
    );
    const isTwice = ['first', 'last'].some(
      (one) => positions.filter((position) => position === one).length > 1,
    );
    const isLastAlone = positions.includes('last') && !positions.includes('first');
    if (!isKnown || isTwice || isLastAlone) throw invalidField('promptImage', 'Invalid positions');
    const hasFrames = references === 0;
    if (hasFrames && body.references !== undefined)
      throw invalidField('references', 'cannot be mixed with frames');
  }
  if (path === 'video_to_video') {
    // The field of this one is not verified.
    const video =
      name === 'gemini_omni_flash' ? (promptVideo ?? videoUri) : name === 'aleph2' ? videoUri : promptVideo;
    if (video === undefined) throw invalidField(name === 'aleph2' ? 'videoUri' : 'promptVideo', 'Required');
    if (promptVideo !== undefined && videoUri !== undefined)
      throw invalidField('videoUri', 'Unrecognized key: videoUri');
  }
  for (const [index, { seconds, at: moment, range }] of (keyframes ?? []).entries()) {
    if ([seconds, moment, range].filter((one) => one !== undefined).length !== 1)
      throw invalidField(`keyframes.${index}`, 'exactly one of seconds, at and range');
  }
  if (name === 'gen4_image_turbo' && (body.referenceImages ?? []).length === 0)
    throw invalidField('referenceImages', 'at least 1');
}

function checkShape(
  { ratio, resolution, duration, outputFormat }: RunwayBody,
  path: RunwayPath,
  { name, model }: { readonly name: string; readonly model: RunwayModel },
): void {
  const ratios = model.paths[path];
  if (ratio === undefined && model.ratioNeeded) throw invalidField('ratio', 'Required');
  const isAuto = ratio?.startsWith('auto_') === true;
  if (isAuto ? name !== 'seedream5_pro' : ratio !== undefined && ratios?.includes(ratio) === false)
    throw invalidField('ratio', `Invalid enum value: ${ratio ?? ''}`);
  if (resolution !== undefined && model.resolutions[path]?.includes(resolution) === false)
    throw invalidField('resolution', `Invalid enum value: ${resolution}`);
  const asInput = path === 'video_to_video' && (model.seconds.length === 0 || name === 'gemini_omni_flash');
  if (duration === undefined && model.secondsNeeded) throw invalidField('duration', 'Required');
  if (duration !== undefined && (asInput || !model.seconds.includes(duration)))
    throw invalidField('duration', `Invalid value: ${duration}`);
  if (outputFormat !== undefined && path !== 'text_to_image' && !['mp4', 'prores'].includes(outputFormat))
    throw invalidField('outputFormat', `Invalid enum value: ${outputFormat}`);
}

const named: Readonly<Record<string, readonly [number, number]>> = {
  '480p': [854, 480],
  '720p': [1280, 720],
  '768p': [1366, 768],
  '1080p': [1920, 1080],
  '2k': [2560, 1440],
  auto_1k: [1024, 1024],
  auto_2k: [2048, 2048],
};
const secondsDefault = 5;

interface Asked {
  readonly path: RunwayPath;
  readonly name: string;
  readonly model: RunwayModel;
}

function settle(body: RunwayBody, { path, name, model }: Asked, faults: FaultSet): RunwayDetail {
  const isImage = path === 'text_to_image';
  const shape = body.resolution?.toLowerCase() ?? body.ratio ?? model.paths[path]?.[0] ?? '1280:720';
  const [width = 0, height = 0] = named[shape] ?? shape.split(':').map(Number);
  const usual = model.seconds.includes(secondsDefault)
    ? secondsDefault
    : (model.seconds[0] ?? secondsDefault);
  const asInput = path === 'video_to_video' ? faults.number('input-seconds') : undefined;
  const seconds = body.duration ?? asInput ?? usual;
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
