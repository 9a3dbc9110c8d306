import { runwayRatios } from './runway-ratios.ts';

/** What each model accepts and charges, by the vendor's SDK; a test compares the two. */
export type RunwayPath = 'text_to_video' | 'image_to_video' | 'video_to_video' | 'text_to_image';

/** A body that one model takes on one path. */
export interface RunwayRow {
  /** Names of all fields, those that are required with a `*`. */
  readonly fields: string;
  /** undefined: any pair of pixels. */
  readonly ratios?: readonly string[];
  readonly resolutions?: readonly string[];
}

export interface RunwayModel {
  readonly paths: Readonly<Partial<Record<RunwayPath, RunwayRow>>>;
  readonly seconds: readonly (number | 'auto')[];
  /** Of images; undefined: up to ten. */
  readonly counts?: readonly number[];
  readonly positions: readonly ('first' | 'last')[];
  readonly promptMax: number;
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

const { wide, gen4, veo, sd480, sd720, sd1080, sd4k, sd25, happy, wan, wanAuto, omni, still } = runwayRatios;
const words = ['1:1', '16:9', '9:16', '4:3', '3:4'];

/** Where no page names a price: a stand-in. */
const unpriced = () => 20;
const base: RunwayModel = {
  paths: {},
  seconds: [],
  positions: ['first'],
  promptMax: 1000,
  credits: unpriced,
  creditsMin: 0,
};

const veoRow = 'promptText ratio* audio duration negativePrompt seed';
const veo31: RunwayModel = {
  ...base,
  paths: {
    text_to_video: { fields: veoRow.replace('promptText', 'promptText*'), ratios: veo },
    image_to_video: { fields: `promptImage* ${veoRow}`, ratios: veo },
  },
  seconds: [4, 6, 8],
  positions: ['first', 'last'],
};
function seedance(ratios: readonly string[], credits: RunwayModel['credits']): RunwayModel {
  const common = 'audio duration ratio seed referenceAudio';
  const references = 'references referenceVideos';
  return {
    ...base,
    paths: {
      text_to_video: { fields: `promptText* ${common} ${references}`, ratios },
      image_to_video: { fields: `promptImage* promptText ${common}`, ratios },
      video_to_video: { fields: `promptVideo* promptText ${common} ${references}`, ratios },
    },
    seconds: [...range(4, 15), 'auto'],
    positions: ['first', 'last'],
    promptMax: 3500,
    credits,
  };
}
const newest = seedance(sd25, () => 30);
const wan3: RunwayModel = {
  ...base,
  paths: {
    text_to_video: {
      fields: 'promptText* audio duration ratio references referenceVideos referenceAudio',
      ratios: [...wan, ...wanAuto],
    },
    image_to_video: {
      fields: 'promptImage* promptText* audio duration ratio referenceVideos referenceAudio',
      ratios: [...wan, ...wanAuto],
    },
  },
  seconds: range(2, 30),
  positions: ['first', 'last'],
};
const hailuoShapes = { ratios: ['adaptive', '21:9', ...words], resolutions: ['768p', '2k', '768P', '2K'] };
const hailuoRow = 'promptText* duration ratio resolution referenceAudio';
const maxRow = 'promptText* duration promptExpansionMode resolution seed';
const finish = 'outputFormat proresProfile';
function image(
  fields: string,
  credits: RunwayModel['credits'] = unpriced,
  ratios?: readonly string[],
): RunwayModel {
  const row = { fields: `promptText* ratio* ${fields}` };
  return {
    ...base,
    paths: { text_to_image: ratios === undefined ? row : { ...row, ratios } },
    promptMax: 32_000,
    credits,
  };
}
const gptFields = 'referenceImages background outputCount quality';
/** Not in the SDK: its fields are not verified. */
const kling: RunwayModel = {
  ...base,
  paths: {
    text_to_video: { fields: 'promptText* duration ratio' },
    image_to_video: { fields: 'promptImage* promptText duration ratio' },
  },
  seconds: range(3, 15),
  positions: ['first', 'last'],
};
const klingNames = [
  'kling2.5_turbo_pro',
  ...['kling3.0', 'klingO3'].flatMap((name) => ['standard', 'pro', '4k'].map((tier) => `${name}_${tier}`)),
];

export const runwayModels: Readonly<Record<string, RunwayModel>> = {
  'gen4.5': {
    ...base,
    paths: {
      text_to_video: {
        fields: `promptText* ratio* duration* seed contentModeration ${finish}`,
        ratios: wide,
      },
      image_to_video: {
        fields: `promptImage* promptText* ratio* duration* seed contentModeration ${finish}`,
        ratios: gen4,
      },
    },
    seconds: range(2, 10),
    credits: () => 12,
  },
  gen4_turbo: {
    ...base,
    paths: {
      image_to_video: {
        fields: 'promptImage* promptText ratio* duration seed contentModeration',
        ratios: gen4,
      },
    },
    seconds: range(2, 10),
    credits: () => 5,
  },
  // Not in the SDK any more.
  veo3: {
    ...base,
    paths: {
      text_to_video: { fields: 'promptText* ratio* duration* negativePrompt', ratios: veo },
      image_to_video: { fields: 'promptImage* promptText ratio* duration* negativePrompt', ratios: veo },
    },
    seconds: [8],
    credits: () => 40,
  },
  'veo3.1': { ...veo31, credits: ({ isSilent }) => (isSilent ? 20 : 40) },
  'veo3.1_fast': { ...veo31, credits: ({ isSilent }) => (isSilent ? 10 : 15) },
  seedance2: seedance([...sd480, ...sd720, ...sd1080, ...sd4k], (output) =>
    Math.max(output.width, output.height) >= 2880 ? 150 : isFull(output) ? 40 : 36,
  ),
  seedance2_fast: seedance([...sd480, ...sd720], () => 29),
  seedance2_mini: { ...seedance([...sd480, ...sd720], () => 16), creditsMin: 64 },
  seedance2_5: {
    ...newest,
    paths: {
      ...newest.paths,
      text_to_video: {
        fields: 'promptText audio duration ratio seed references referenceVideos referenceAudio',
        ratios: sd25,
      },
      video_to_video: {
        fields:
          'promptVideo* promptText audio duration mode ratio seed references referenceVideos referenceAudio',
        ratios: sd25,
      },
    },
    seconds: [...range(4, 30), 'auto'],
    promptMax: 15_000,
  },
  happyhorse_1_0: {
    ...base,
    paths: {
      text_to_video: { fields: 'promptText* duration ratio', ratios: happy },
      image_to_video: {
        fields: 'promptImage* promptText duration resolution',
        resolutions: ['720p', '1080p', '720P', '1080P'],
      },
    },
    seconds: range(3, 15),
    promptMax: 2500,
  },
  gemini_omni_flash: {
    ...base,
    paths: {
      text_to_video: { fields: 'promptText* duration ratio', ratios: wide },
      image_to_video: { fields: 'promptImage* promptText duration ratio', ratios: wide },
      video_to_video: { fields: 'promptText* videoUri* references' },
    },
    seconds: range(3, 10),
  },
  'gemini_omni_flash_1.1': {
    ...base,
    paths: {
      text_to_video: { fields: 'promptText* duration ratio references referenceVideos', ratios: omni },
      image_to_video: { fields: 'promptImage* promptText* duration ratio', ratios: omni },
      video_to_video: { fields: 'promptText* videoUri* duration mode ratio references', ratios: omni },
    },
    seconds: [...range(3, 10), 'auto'],
    positions: ['first', 'last'],
  },
  wan3,
  wan3_prime: wan3,
  grok_imagine_1_5: {
    ...base,
    paths: {
      text_to_video: {
        fields: 'promptText* duration ratio resolution references referenceAudio',
        ratios: [...words, '3:2', '2:3'],
        resolutions: ['480p', '720p', '1080p'],
      },
      image_to_video: {
        fields: 'promptImage* promptText duration resolution',
        resolutions: ['480p', '720p', '1080p'],
      },
    },
    seconds: range(1, 15),
    credits: (output) => (lines(output) <= 480 ? 11 : 16),
  },
  hailuo3: {
    ...base,
    paths: {
      text_to_video: { fields: `${hailuoRow} references referenceVideos`, ...hailuoShapes },
      image_to_video: { fields: `promptImage* ${hailuoRow}`, ...hailuoShapes },
      video_to_video: { fields: `promptVideo* ${hailuoRow} references referenceVideos`, ...hailuoShapes },
    },
    seconds: range(5, 15),
    positions: ['first', 'last'],
    credits: (output) => (lines(output) <= 768 ? 10 : unpriced()),
  },
  h3_max: {
    ...base,
    paths: {
      text_to_video: { fields: maxRow, resolutions: ['480p', '768p'] },
      image_to_video: { fields: `promptImage* ${maxRow}`, resolutions: ['480p', '768p'] },
    },
    seconds: range(5, 15),
    positions: ['first', 'last'],
  },
  ...Object.fromEntries(klingNames.map((name) => [name, kling])),
  aleph2: {
    ...base,
    paths: {
      video_to_video: {
        fields: `videoUri* promptText seed contentModeration keyframes ratio targetAspectRatio ${finish}`,
      },
    },
    credits: () => 28,
    creditsMin: 56,
  },
  gen4_image: {
    ...image('referenceImages seed contentModeration', (output) => (isFull(output) ? 8 : 5), still),
    promptMax: 1000,
  },
  gen4_image_turbo: {
    ...image('referenceImages* seed contentModeration', () => 2, still),
    promptMax: 1000,
  },
  'gemini_2.5_flash': image('referenceImages', () => 5),
  gemini_image3_pro: { ...image('referenceImages outputCount'), counts: [1, 4] },
  'gemini_image3.1_flash': { ...image('referenceImages outputCount'), counts: [1, 4] },
  gpt_image_2: image(gptFields),
  gpt_image_2_5_flare: image(gptFields),
  gpt_image_2_5_sunburst: image(gptFields),
  muse_image: image('referenceImages outputCount outputFormat', () => 1),
  seedream5_pro: image('referenceImages grounding outputCount outputFormat'),
  seedream5_lite: image('referenceImages grounding outputCount outputFormat'),
  grok_imagine_image_2: image('referenceImages edit outputCount quality'),
};
