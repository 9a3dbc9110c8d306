import type { FactsOrigin } from '../../models/facts-table.ts';
import type { RunwayInputs } from './runway-shape.ts';

/** A test compares these capabilities with the types in the vendor's SDK. */
export interface RunwayModel {
  readonly frames: 0 | 1 | 2;
  readonly references: readonly ('images' | 'videos' | 'audios')[];
  /** Set if reference videos are sent without `type`. */
  readonly bareVideos?: true;
  readonly edit?: RunwayEdit;
  readonly needs?: 'image' | 'video';
  readonly wordless: readonly RunwayInputs['operation'][];
  readonly seconds: { readonly min: number; readonly max: number; readonly only?: readonly number[] };
  readonly demandsRatio: boolean;
  readonly demandsSeconds: boolean;
  readonly shapes: Shapes;
  readonly imageShapes?: Shapes;
  readonly sound: 'choice' | 'always' | 'never' | 'unknown';
  readonly seed: boolean;
  readonly negativePrompt?: true;
  readonly promptMax: number;
}

interface RunwayEdit {
  readonly field: 'promptVideo' | 'videoUri';
  readonly images: boolean;
  /** True if the result has the same length and shape as the video. Neither is sent in that case. */
  readonly likeInput: boolean;
  readonly says?: { readonly mode: 'edit'; readonly duration?: 'auto' };
  readonly extends?: true;
  readonly targets?: readonly string[];
}

/**
 * How a request specifies the output. If `pairs` is set, the vendor's `ratio` field contains the pixels for each
 * resolution and ratio, or one word per resolution if the image determines the shape. Otherwise, resolution and ratio
 * have separate fields. Without ratios, the model chooses the shape or keeps its image's shape.
 */
export type Shapes =
  | { readonly pairs: Pairs }
  | { readonly resolutions: readonly string[]; readonly ratios: readonly string[] };

export type Pairs = Readonly<Record<string, Readonly<Record<string, string>> | string>>;

const wide = (landscape: string): Record<string, string> => {
  const [width, height] = landscape.split(':');
  return { '16:9': landscape, '9:16': `${height}:${width}` };
};
const plain: Shapes = { pairs: { '720p': wide('1280:720'), '1080p': wide('1920:1080') } };
const wide720: Shapes = { pairs: { '720p': wide('1280:720') } };
const gen4Shapes: Shapes = {
  pairs: {
    '720p': {
      ...wide('1280:720'),
      '4:3': '1104:832',
      '3:4': '832:1104',
      '1:1': '960:960',
      '21:9': '1584:672',
    },
  },
};
/**
 * The arguments are the pairs for 16:9, 4:3, 1:1 and, for some models, 21:9. The pairs for 9:16 and 3:4 are the same,
 * rotated.
 */
const set = ([landscape, four, square, cinema]: readonly [string, string, string, string?]): Record<
  string,
  string
> => ({
  ...wide(landscape),
  '4:3': four,
  '3:4': four.split(':').toReversed().join(':'),
  '1:1': square,
  ...(cinema === undefined ? {} : { '21:9': cinema }),
});
const seedance480 = set(['864:496', '752:560', '640:640', '992:432']);
const seedance720 = set(['1280:720', '1112:834', '960:960', '1470:630']);
const seedance1080 = set(['1920:1080', '1664:1248', '1440:1440', '2206:946']);
const seedance4k = set(['3840:2160', '3840:2880', '3840:3840', '3840:1646']);

const base: RunwayModel = {
  frames: 1,
  references: [],
  wordless: ['image', 'edit'],
  seconds: { min: 2, max: 10 },
  demandsRatio: false,
  demandsSeconds: false,
  shapes: plain,
  sound: 'unknown',
  seed: false,
  promptMax: 1000,
};
const gen4: RunwayModel = {
  ...base,
  demandsRatio: true,
  demandsSeconds: true,
  shapes: gen4Shapes,
  sound: 'never',
  seed: true,
};
const veo: RunwayModel = {
  ...base,
  frames: 2,
  demandsRatio: true,
  seconds: { min: 4, max: 8, only: [4, 6, 8] },
  sound: 'choice',
  seed: true,
  negativePrompt: true,
};
const seedance: RunwayModel = {
  ...base,
  frames: 2,
  references: ['images', 'videos', 'audios'],
  edit: { field: 'promptVideo', images: true, likeInput: false },
  seconds: { min: 4, max: 15 },
  shapes: { pairs: { '480p': seedance480, '720p': seedance720, '1080p': seedance1080, '4k': seedance4k } },
  sound: 'choice',
  seed: true,
  promptMax: 3500,
};
const omni: RunwayModel = {
  ...base,
  edit: { field: 'videoUri', images: true, likeInput: true },
  wordless: ['image'],
  seconds: { min: 3, max: 10 },
  shapes: wide720,
};

/** Taken from the SDK. Models that are missing from the SDK have their own `origin`. */
export const runwayModels: readonly (readonly [name: RegExp, model: RunwayModel, origin?: FactsOrigin])[] = [
  [/^gen4\.5$/, { ...gen4, wordless: [], shapes: wide720, imageShapes: gen4Shapes }],
  [/^gen4_turbo$/, { ...gen4, needs: 'image' }],
  [
    /^veo3$/,
    { ...veo, frames: 1, seconds: { min: 8, max: 8 }, demandsSeconds: true, sound: 'always', seed: false },
    { source: 'the vendor’s table of models', read: '2026-11' },
  ],
  [/^veo3\.1(?:_fast)?$/, veo],
  [/^seedance2$/, seedance],
  [/^seedance2_(?:fast|mini)$/, { ...seedance, shapes: { pairs: { '480p': seedance480, '720p': seedance720 } } }],
  [
    /^seedance2_5$/,
    {
      ...seedance,
      edit: {
        field: 'promptVideo',
        images: true,
        likeInput: true,
        says: { mode: 'edit', duration: 'auto' },
        extends: true,
      },
      wordless: ['image', 'references'],
      seconds: { min: 4, max: 30 },
      shapes: {
        pairs: { '480p': { ...seedance480, ...wide('854:480') }, '720p': seedance720, '1080p': seedance1080 },
      },
      promptMax: 15_000,
    },
  ],
  [
    /^happyhorse_/,
    {
      ...base,
      seconds: { min: 3, max: 15 },
      shapes: {
        pairs: {
          '720p': set(['1280:720', '1108:832', '960:960']),
          '1080p': set(['1920:1080', '1662:1248', '1440:1440']),
        },
      },
      imageShapes: { resolutions: ['720p', '1080p'], ratios: [] },
      promptMax: 2500,
    },
  ],
  [/^gemini_omni_flash$/, omni],
  [
    /^gemini_omni_flash/,
    {
      ...omni,
      frames: 2,
      references: ['images', 'videos'],
      bareVideos: true,
      edit: { field: 'videoUri', images: true, likeInput: true, says: { mode: 'edit' }, extends: true },
      wordless: [],
      shapes: {
        pairs: {
          '360p': wide('640:360'),
          '720p': wide('1280:720'),
          '1080p': wide('1920:1080'),
          '4k': wide('3840:2160'),
        },
      },
    },
  ],
  [
    /^wan3/,
    {
      ...base,
      frames: 2,
      references: ['images', 'videos', 'audios'],
      wordless: [],
      seconds: { min: 2, max: 30 },
      shapes: {
        pairs: {
          '480p': set(['832:480', '720:544', '624:624']),
          '720p': set(['1280:720', '1104:832', '960:960']),
          '1080p': set(['1920:1080', '1648:1248', '1440:1440']),
        },
      },
      imageShapes: { pairs: { '480p': 'auto_480p', '720p': 'auto_720p', '1080p': 'auto_1080p' } },
      sound: 'choice',
    },
  ],
  [
    /^grok_imagine/,
    {
      ...base,
      references: ['images', 'audios'],
      seconds: { min: 1, max: 15 },
      shapes: {
        resolutions: ['480p', '720p', '1080p'],
        ratios: ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'],
      },
      imageShapes: { resolutions: ['480p', '720p', '1080p'], ratios: [] },
    },
  ],
  [
    /^hailuo3$/,
    {
      ...base,
      frames: 2,
      references: ['images', 'videos', 'audios'],
      edit: { field: 'promptVideo', images: true, likeInput: false },
      wordless: [],
      seconds: { min: 5, max: 15 },
      shapes: {
        resolutions: ['768p', '2k'],
        ratios: ['adaptive', '21:9', '16:9', '4:3', '1:1', '3:4', '9:16'],
      },
    },
  ],
  [
    /^h3_max$/,
    {
      ...base,
      frames: 2,
      wordless: [],
      seconds: { min: 5, max: 15 },
      shapes: { resolutions: ['480p', '768p'], ratios: [] },
      seed: true,
    },
  ],
  [
    /^(?:aleph2|gen4_aleph)$/,
    {
      ...base,
      frames: 0,
      edit: {
        field: 'videoUri',
        images: false,
        likeInput: true,
        targets: ['16:9', '4:3', '3:2', '1:1', '2:3', '3:4', '9:16', '21:9'],
      },
      needs: 'video',
      shapes: { pairs: {} },
      sound: 'never',
      seed: true,
    },
  ],
]; // prettier-ignore

const unknownModel: RunwayModel = {
  ...base,
  frames: 2,
  references: ['images', 'videos', 'audios'],
  seconds: { min: 1, max: 30 },
  seed: true,
  promptMax: 15_000,
};

export function runwayModel(name: string): RunwayModel {
  return runwayModels.find(([pattern]) => pattern.test(name))?.[1] ?? unknownModel;
}
