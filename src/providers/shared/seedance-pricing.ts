import { defined } from '../../base/defined.ts';
import type { VideoFacts } from '../../models/model-facts.ts';
import type { VideoRequest } from '../../models/request.ts';
import { seedanceFamily, seedanceFramesPerSecond, type SeedanceFamily } from './seedance-models.ts';
import type { EstimateOutput, PossibleOutput } from '../provider.ts';

type Size = readonly [width: number, height: number];
type SizesByRatio = Readonly<Record<string, Size>>;
type Table = Readonly<Record<string, SizesByRatio>>;

function sizes(...row: readonly [Size, Size, Size, Size, Size, Size]): SizesByRatio {
  const [wide, standard, square, tallStandard, tall, cinema] = row;
  return { '16:9': wide, '4:3': standard, '1:1': square, '3:4': tallStandard, '9:16': tall, '21:9': cinema };
}

const firstGeneration: Table = {
  '480p': sizes([864, 480], [736, 544], [640, 640], [544, 736], [480, 864], [960, 416]),
  '720p': sizes([1248, 704], [1120, 832], [960, 960], [832, 1120], [704, 1248], [1504, 640]),
  '1080p': sizes([1920, 1088], [1664, 1248], [1440, 1440], [1248, 1664], [1088, 1920], [2176, 928]),
};

const later: Table = {
  '480p': sizes([864, 496], [752, 560], [640, 640], [560, 752], [496, 864], [992, 432]),
  '720p': sizes([1280, 720], [1112, 834], [960, 960], [834, 1112], [720, 1280], [1470, 630]),
  '1080p': sizes([1920, 1080], [1664, 1248], [1440, 1440], [1248, 1664], [1080, 1920], [2206, 946]),
  '4k': sizes([3840, 2160], [3840, 2880], [3840, 3840], [2880, 3840], [2160, 3840], [3840, 1646]),
};

const tables: Readonly<Record<SeedanceFamily['pixels'], readonly Table[]>> = {
  first_generation: [firstGeneration],
  later: [later],
  unknown: [firstGeneration, later],
};

export function seedanceShapes({ pixels, resolutions }: SeedanceFamily): VideoFacts['shapes'] {
  const [table = {}, other] = tables[pixels];
  if (other !== undefined) return undefined;
  return Object.fromEntries(
    Object.entries(table)
      .filter(([resolution]) => resolutions.includes(resolution))
      .map(([resolution, row]) => [
        resolution,
        Object.fromEntries(Object.entries(row).map(([ratio, size]) => [ratio, size.join('x')])),
      ]),
  );
}

/**
 * Used if neither the request nor the model's entry specifies a resolution. It is the default of the most expensive
 * family.
 */
const unspecifiedResolution = '1080p';

/**
 * Returns `floor(width · height · frames / 1024)`, with `24 · (output + input video seconds) + 1` frames. This is the
 * documented formula plus one extra frame, as observed in practice. Input images, sound and the prompt cost nothing.
 * Returns undefined for a resolution or ratio missing from every table.
 */
export function estimateSeedanceTokens(
  request: VideoRequest,
  output: EstimateOutput,
  model?: string,
): bigint | undefined {
  const family = seedanceFamily(model);
  const asked = isDraft(request, family)
    ? draftResolution
    : output.resolution.toLowerCase() || unspecifiedResolution;
  const pixels = largestPixels(family, asked, output.ratio);
  const frames = frameCount(request, output, family);
  if (pixels === undefined || !Number.isSafeInteger(frames)) return undefined;
  return (pixels * BigInt(frames)) / 1024n;
}

function largestPixels(family: SeedanceFamily, resolution: string, ratio: string): bigint | undefined {
  const found = tables[family.pixels].flatMap((table) => {
    const row = table[resolution];
    if (row === undefined) return [];
    // The model chooses the ratio, so assume the largest size.
    if (ratio === '' || ratio === 'adaptive') return Object.values(row);
    const size = row[ratio];
    return size === undefined ? [] : [size];
  });
  if (found.length === 0) return undefined;
  return BigInt(Math.max(...found.map(([width, height]) => width * height)));
}

function frameCount(request: VideoRequest, output: EstimateOutput, family: SeedanceFamily): number {
  const given = Math.min(family.referenceSeconds, output.inputSeconds ?? Infinity);
  const inputFrames = request.videos.length > 0 ? Math.ceil(given * seedanceFramesPerSecond) : 0;
  const frames = askedFrames(request, family);
  const seconds = output.durationSeconds > 0 ? output.durationSeconds : family.durations.max;
  const timed = Math.ceil(seconds * seedanceFramesPerSecond) + 1;
  if (frames === undefined) return timed + inputFrames;
  // An unknown model may ignore `frames`, so assume the larger count.
  return (isKnown(family) ? frames : Math.max(frames, timed)) + inputFrames;
}

export const draftResolution = '480p';
/** The vendor's parameter table lists different defaults for different models. */
export const usualResolutions = ['720p', '1080p'];
export const usualSeconds = 5;

export function seedanceOutput(request: VideoRequest, model: string): PossibleOutput {
  const family = seedanceFamily(model);
  return defined({
    resolutions: isDraft(request, family)
      ? [draftResolution]
      : request.resolution === undefined && request.draft !== true
        ? usualResolutions
        : undefined,
    seconds: countedSeconds(request, model) ?? timedSeconds(request, family),
  });
}

/**
 * Returns the lengths that the facts table cannot express: those given as a frame count, and those that an unknown
 * model may choose.
 */
export function countedSeconds(request: VideoRequest, model: string): PossibleOutput['seconds'] {
  const family = seedanceFamily(model);
  const timed = timedSeconds(request, family);
  const frames = askedFrames(request, family);
  if (frames === undefined) return request.duration === 'auto' && !isKnown(family) ? timed : undefined;
  const counted = frames / seedanceFramesPerSecond;
  return isKnown(family)
    ? { min: counted, max: counted }
    : { min: Math.min(counted, timed.min), max: Math.max(counted, timed.max) };
}

function timedSeconds({ duration = usualSeconds }: VideoRequest, { durations }: SeedanceFamily) {
  const { min, max } = durations;
  return duration === 'auto' ? { min, max } : { min: duration, max: duration };
}

function isDraft({ draft }: VideoRequest, family: SeedanceFamily): boolean {
  return draft === true && family.draft && isKnown(family);
}

function askedFrames({ extra: { frames } }: VideoRequest, family: SeedanceFamily): number | undefined {
  return typeof frames === 'number' && family.frameCount ? Math.ceil(frames) : undefined;
}

function isKnown({ pixels, frameCount }: SeedanceFamily): boolean {
  return pixels !== 'unknown' || !frameCount;
}

/**
 * The upstream still parses this legacy syntax in the prompt. It would override the fields that determine the price.
 */
const pricedFlags = /--(rs|resolution|rt|ratio|dur|duration|frames|fps)(?![a-z])/i;

export function pricedPromptFlag(prompt: string): string | undefined {
  return pricedFlags.exec(prompt)?.[1];
}
