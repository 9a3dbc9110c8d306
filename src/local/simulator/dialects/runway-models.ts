import { runwayRatios } from './runway-ratios.ts';

/** What each model accepts and charges. */
export type RunwayPath = 'text_to_video' | 'image_to_video' | 'video_to_video' | 'text_to_image';

export interface RunwayModel {
  /** The ratios of each path; `undefined`: any pair of pixels, where the page names none. */
  readonly paths: Readonly<Partial<Record<RunwayPath, readonly string[] | undefined>>>;
  readonly ratioNeeded: boolean;
  /** Paths that have a resolution in place of a ratio. */
  readonly resolutions: Readonly<Partial<Record<RunwayPath, readonly string[]>>>;
  /** Whole seconds; empty: as long as the input. */
  readonly seconds: readonly number[];
  readonly secondsNeeded: boolean;
  readonly positions: readonly ('first' | 'last')[];
  readonly prompt: readonly [min: number, max: number];
  /** Fields beside those that every model has. */
  readonly fields: readonly string[];
  /** Credits for each second of a video, or for each image. */
  readonly credits: (output: RunwayOutput) => number;
  readonly creditsMin: number;
}

export interface RunwayOutput {
  readonly width: number;
  readonly height: number;
  readonly isSilent: boolean;
}

const range = (min: number, max: number) => Array.from({ length: max - min + 1 }, (_, index) => min + index);
/** Height of a landscape picture, whatever its shape. */
const lines = ({ width, height }: RunwayOutput) => Math.min(width, height);
const isFull = (output: RunwayOutput) => output.width * output.height > 1.6e6;

const { wide, gen4, veo, sd480, sd720, sd1080, sd4k, sd25, happy, wan, still } = runwayRatios;

/** Where the page names no price: a stand-in. */
const unpriced = () => 20;
const base: RunwayModel = {
  paths: {},
  ratioNeeded: true,
  resolutions: {},
  seconds: [],
  secondsNeeded: false,
  positions: ['first'],
  prompt: [1, 1000],
  fields: [],
  credits: unpriced,
  creditsMin: 0,
};
const gen: RunwayModel = {
  ...base,
  secondsNeeded: true,
  seconds: range(2, 10),
  fields: ['seed', 'contentModeration'],
};
const veo31: RunwayModel = {
  ...base,
  paths: { text_to_video: veo, image_to_video: veo },
  seconds: [4, 6, 8],
  positions: ['first', 'last'],
  fields: ['negativePrompt', 'audio'],
};
const seedanceFields = ['audio', 'references', 'referenceVideos', 'referenceAudio', 'outputFormat'];
function seedance(ratios: readonly string[], credits: RunwayModel['credits']): RunwayModel {
  return {
    ...base,
    ratioNeeded: false,
    paths: { text_to_video: ratios, image_to_video: ratios, video_to_video: ratios },
    seconds: range(4, 15),
    positions: ['first', 'last'],
    prompt: [1, 3500],
    fields: seedanceFields,
    credits,
  };
}
const mini = seedance([...sd480, ...sd720], () => 16);
function image(
  credits: RunwayModel['credits'],
  fields: readonly string[] = [],
  ratios?: readonly string[],
): RunwayModel {
  return { ...base, paths: { text_to_image: ratios }, fields: ['referenceImages', ...fields], credits };
}
/** Fields of these are not verified: those of gen4. */
const kling: RunwayModel = {
  ...base,
  paths: { text_to_video: undefined, image_to_video: undefined },
  ratioNeeded: false,
  seconds: range(3, 15),
  positions: ['first', 'last'],
};
const klingNames = [
  'kling2.5_turbo_pro',
  ...['kling3.0', 'klingO3'].flatMap((name) => ['standard', 'pro', '4k'].map((tier) => `${name}_${tier}`)),
];

export const runwayModels: Readonly<Record<string, RunwayModel>> = {
  'gen4.5': { ...gen, paths: { text_to_video: wide, image_to_video: gen4 }, credits: () => 12 },
  gen4_turbo: { ...gen, paths: { image_to_video: gen4 }, secondsNeeded: false, credits: () => 5 },
  veo3: {
    ...veo31,
    seconds: [8],
    secondsNeeded: true,
    positions: ['first'],
    fields: ['negativePrompt'],
    credits: () => 40,
  },
  'veo3.1': { ...veo31, credits: ({ isSilent }) => (isSilent ? 20 : 40) },
  'veo3.1_fast': { ...veo31, credits: ({ isSilent }) => (isSilent ? 10 : 15) },
  seedance2: seedance([...sd480, ...sd720, ...sd1080, ...sd4k], (output) =>
    Math.max(output.width, output.height) >= 2880 ? 150 : isFull(output) ? 40 : 36,
  ),
  seedance2_5: {
    ...seedance(sd25, () => 30),
    paths: { text_to_video: sd25, image_to_video: sd25 },
    seconds: range(4, 30),
    prompt: [1, 15_000],
    fields: [...seedanceFields, 'seed'],
  },
  seedance2_fast: seedance([...sd480, ...sd720], () => 29),
  seedance2_mini: { ...mini, creditsMin: 64 },
  happyhorse_1_0: {
    ...base,
    paths: { text_to_video: happy, image_to_video: [] },
    resolutions: { image_to_video: ['720P', '1080P'] },
    ratioNeeded: false,
    seconds: range(3, 15),
    prompt: [2, 2500],
  },
  gemini_omni_flash: {
    ...base,
    paths: { text_to_video: wide, image_to_video: wide, video_to_video: wide },
    ratioNeeded: false,
    seconds: range(3, 10),
  },
  wan3: {
    ...base,
    paths: { text_to_video: wan, image_to_video: wan },
    ratioNeeded: false,
    seconds: range(2, 30),
  },
  wan3_prime: {
    ...base,
    paths: { text_to_video: wan, image_to_video: wan },
    ratioNeeded: false,
    seconds: range(2, 30),
  },
  grok_imagine_1_5: {
    ...base,
    paths: { text_to_video: undefined, image_to_video: [] },
    resolutions: { text_to_video: ['480p', '720p', '1080p'], image_to_video: ['480p', '720p', '1080p'] },
    ratioNeeded: false,
    seconds: range(1, 15),
    credits: (output) => (lines(output) <= 480 ? 11 : 16),
  },
  ...Object.fromEntries(
    ['hailuo3', 'h3_max'].map((name) => [
      name,
      {
        ...base,
        paths: { text_to_video: undefined, image_to_video: undefined },
        resolutions: { text_to_video: ['768P', '2K'], image_to_video: ['768P', '2K'] },
        ratioNeeded: false,
        seconds: range(5, 15),
        positions: ['first', 'last'],
        credits: (output: RunwayOutput) => (name === 'hailuo3' && lines(output) <= 768 ? 10 : unpriced()),
      } satisfies RunwayModel,
    ]),
  ),
  ...Object.fromEntries(klingNames.map((name) => [name, kling])),
  aleph2: {
    ...base,
    paths: { video_to_video: [] },
    ratioNeeded: false,
    prompt: [0, 1000],
    fields: ['seed', 'contentModeration', 'keyframes', 'targetAspectRatio'],
    credits: () => 28,
    creditsMin: 56,
  },
  gen4_image: image((output) => (isFull(output) ? 8 : 5), ['seed', 'contentModeration'], still),
  gen4_image_turbo: image(() => 2, ['seed', 'contentModeration'], still),
  'gemini_2.5_flash': image(() => 5),
  gemini_image3_pro: image(unpriced),
  'gemini_image3.1_flash': image(unpriced, ['outputCount']),
  gpt_image_2: image(unpriced, ['quality', 'background', 'outputCount']),
  seedream5_pro: image(unpriced, ['outputFormat']),
  seedream5_lite: image(unpriced, ['outputFormat']),
};
