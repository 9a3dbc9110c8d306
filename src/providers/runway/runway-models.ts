import { framesOf } from '../../domain/media-roles.ts';
import type { MediaRoles } from '../../domain/media-roles.ts';
import type { VideoRequest } from '../../domain/request.ts';

/** What the adapter knows of a video model. Source: the vendor's SDK of 2026-07, newer ones from clients of 2026-10. */
export interface RunwayModel {
  /** First, or first and last. */
  readonly frames: 0 | 1 | 2;
  /** Reference images, videos and audio. */
  readonly references: boolean;
  /** Field of a video that is edited; undefined: the model edits none. */
  readonly editField?: 'promptVideo' | 'videoUri';
  /** What a request must bring beside its text. */
  readonly needs?: 'image' | 'video';
  readonly seconds: { readonly min: number; readonly max: number; readonly only?: readonly number[] };
  /** What must be sent, whether a request says something about it or not. */
  readonly demandsRatio: boolean;
  readonly demandsSeconds: boolean;
  /** Pixel pairs by resolution and ratio. */
  readonly shapes: Shapes;
  /** With an image: other pairs, or a resolution alone, because the picture keeps the image's shape. */
  readonly imageShapes?: Shapes;
  readonly sound: 'choice' | 'always' | 'never' | 'unknown';
  readonly seed: boolean;
  readonly promptMax: number;
}

/** A pair for each ratio, or the one word of `resolution` that stands for every shape. */
export type Shapes = Readonly<Record<string, Readonly<Record<string, string>> | string>>;

const wide = (landscape: string): Record<string, string> => {
  const [width, height] = landscape.split(':');
  return { '16:9': landscape, '9:16': `${height}:${width}` };
};
const plain: Shapes = { '720p': wide('1280:720'), '1080p': wide('1920:1080') };
const gen4Shapes: Shapes = {
  '720p': { ...wide('1280:720'), '4:3': '1104:832', '3:4': '832:1104', '1:1': '960:960', '21:9': '1584:672' },
};
/** The pairs of 16:9, 4:3, 1:1 and 21:9; those of 9:16 and 3:4 stand on their side. */
const set = ([landscape, four, square, cinema]: readonly [string, string, string, string]): Record<
  string,
  string
> => ({
  ...wide(landscape),
  '4:3': four,
  '3:4': four.split(':').toReversed().join(':'),
  '1:1': square,
  '21:9': cinema,
});
const seedance480 = set(['864:496', '752:560', '640:640', '992:432']);
const seedance720 = set(['1280:720', '1112:834', '960:960', '1470:630']);
const seedance1080 = set(['1920:1080', '1664:1248', '1440:1440', '2206:946']);
const seedance4k = set(['3840:2160', '3840:2880', '3840:3840', '3840:1646']);

const base: RunwayModel = {
  frames: 1,
  references: false,
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
};
const seedance: RunwayModel = {
  ...base,
  frames: 2,
  references: true,
  editField: 'promptVideo',
  seconds: { min: 4, max: 15 },
  shapes: { '480p': seedance480, '720p': seedance720, '1080p': seedance1080, '4k': seedance4k },
  sound: 'choice',
  promptMax: 3500,
};
const happyhorse: RunwayModel = {
  ...base,
  seconds: { min: 3, max: 15 },
  shapes: {
    '720p': { ...wide('1280:720'), '1:1': '960:960', '4:3': '1108:832', '3:4': '832:1108' },
    '1080p': { ...wide('1920:1080'), '1:1': '1440:1440', '4:3': '1662:1248', '3:4': '1248:1662' },
  },
  imageShapes: { '720p': '720P', '1080p': '1080P' },
  promptMax: 2500,
};

const known: readonly (readonly [name: RegExp, model: RunwayModel])[] = [
  [/^gen4\.5$/, { ...gen4, shapes: { '720p': wide('1280:720') }, imageShapes: gen4Shapes }],
  [/^gen4_turbo$/, { ...gen4, needs: 'image' }],
  [/^veo3$/, { ...veo, frames: 1, seconds: { min: 8, max: 8 }, demandsSeconds: true, sound: 'always' }],
  [/^veo3\.1(?:_fast)?$/, veo],
  [/^seedance2$/, seedance],
  [/^seedance2_(?:fast|mini)$/, { ...seedance, shapes: { '480p': seedance480, '720p': seedance720 } }],
  [
    /^seedance2_5$/,
    {
      ...base,
      frames: 2,
      seconds: { min: 4, max: 30 },
      shapes: { '480p': { ...seedance480, ...wide('854:480') }, '720p': seedance720, '1080p': seedance1080 },
      sound: 'choice',
      seed: true,
      promptMax: 15_000,
    },
  ],
  [/^happyhorse_/, happyhorse],
  [
    /^gemini_omni_flash$/,
    { ...base, editField: 'videoUri', seconds: { min: 3, max: 10 }, shapes: { '720p': wide('1280:720') } },
  ],
  [
    /^gemini_omni_flash/,
    {
      ...base,
      editField: 'videoUri',
      seconds: { min: 3, max: 10 },
      shapes: { '360p': wide('640:360'), ...plain, '4k': wide('3840:2160') },
    },
  ],
  [/^wan3/, { ...base, seconds: { min: 2, max: 30 }, shapes: { '480p': wide('832:480'), ...plain } }],
  [
    /^grok_imagine/,
    { ...base, seconds: { min: 1, max: 15 }, imageShapes: { '480p': '480p', '720p': '720p', '1080p': '1080p' } },
  ],
  [/^(?:hailuo3|h3_max)$/, { ...base, seconds: { min: 5, max: 15 }, shapes: { '768p': '768P', '2k': '2K' } }],
  [
    /^(?:aleph2|gen4_aleph)$/,
    { ...base, frames: 0, editField: 'videoUri', needs: 'video', shapes: {}, sound: 'never', seed: true },
  ],
]; // prettier-ignore

/** A model newer than this table: the upstream itself decides what it takes. */
const unknownModel: RunwayModel = {
  ...base,
  frames: 2,
  references: true,
  seconds: { min: 1, max: 30 },
  seed: true,
  promptMax: 15_000,
};

export function runwayModel(name: string): RunwayModel {
  return known.find(([pattern]) => pattern.test(name))?.[1] ?? unknownModel;
}

/** What a request renders, and from what. */
export interface RunwayInputs {
  readonly operation: 'text' | 'image' | 'references' | 'edit';
  readonly frames: readonly string[];
}

/** `metadata.refer_type: base` edits the video of a model that takes references, too. */
export function runwayInputs(
  request: VideoRequest,
  { references: takesReferences, editField }: RunwayModel,
): RunwayInputs {
  const { references, videos, audios, extra } = request;
  const frames = framesOf(request);
  const isEdit = videos.length > 0 && editField !== undefined;
  if (isEdit && (!takesReferences || extra['refer_type'] === 'base'))
    return { operation: 'edit', frames: [] };
  if (frames.length > 0) return { operation: 'image', frames };
  return references.length + videos.length + audios.length > 0
    ? { operation: 'references', frames: [] }
    : { operation: 'text', frames: [] };
}

/** How many references fit is not known; a video to edit may have them beside it. */
export function runwayRoles({ frames, references, editField }: RunwayModel): MediaRoles {
  const max = references ? Infinity : 0;
  return {
    frames,
    references: max,
    videos: references ? Infinity : editField === undefined ? 0 : 1,
    audios: max,
  };
}

const ratioUnsaid = '16:9';

const resolutionUsual = '720p';

/** The resolutions of a model, first the one that a request without a word about it means. */
export function usualFirst(shapes: Shapes): readonly string[] {
  const sold = Object.keys(shapes);
  const others = sold.filter((resolution) => resolution !== resolutionUsual);
  return others.length < sold.length ? [resolutionUsual, ...others] : sold;
}

/** `ratio` or `resolution` of a request; undefined: the model has no such shape. */
export function shapeFields(
  { resolution, ratio }: VideoRequest,
  { demandsRatio, needs, shapes, imageShapes }: RunwayModel,
  operation: RunwayInputs['operation'],
): { readonly ratio?: string; readonly resolution?: string } | undefined {
  if (needs === 'video') return {};
  const said = ratio === 'adaptive' && !demandsRatio && operation !== 'text' ? undefined : ratio;
  if (resolution === undefined && said === undefined && !demandsRatio) return {};
  const sold = operation === 'image' ? (imageShapes ?? shapes) : shapes;
  const found = sold[resolution?.toLowerCase() ?? usualFirst(sold)[0] ?? ''];
  // The picture keeps the shape of its image, or has the one that the model prefers.
  if (typeof found === 'string')
    return operation === 'image' || said === undefined ? { resolution: found } : undefined;
  const pair = found?.[said ?? ratioUnsaid];
  return pair === undefined ? undefined : { ratio: pair };
}
