import type { LengthFacts } from '../../models/model-facts.ts';

export interface WanModel {
  /** An `any` model accepts every input and chooses the mode according to the media in the request. */
  readonly kind: 't2v' | 'i2v' | 'kf2v' | 'r2v' | 'any';
  readonly shape: 'size' | 'resolution' | 'resolution_and_ratio';
  readonly resolutions: readonly string[];
  readonly seconds: LengthFacts;
  /** Undefined if the vendor sets the limits. */
  readonly references?: { readonly images: number; readonly videos: number };
  readonly audios: number;
  readonly generatesAudio: boolean;
  /** From version 2.7 on, images and videos are sent in one list. */
  readonly mediaList: boolean;
  readonly lastFrame: boolean;
}

type Kind = Exclude<WanModel['kind'], 'any'>;
type Generation = Omit<WanModel, 'kind' | 'shape'>;

const oldest: Generation = {
  resolutions: ['480p', '720p', '1080p'],
  seconds: { only: [5] },
  audios: 0,
  generatesAudio: false,
  mediaList: false,
  lastFrame: false,
};
const wan25: Generation = { ...oldest, seconds: { only: [5, 10] }, audios: 1, generatesAudio: true };
const wan26: Generation = { ...wan25, seconds: { min: 2, max: 15 } };
const wan27: Generation = {
  ...wan26,
  resolutions: ['720p', '1080p'],
  references: { images: 5, videos: 5 },
  mediaList: true,
  lastFrame: true,
};
const happyHorse: Generation = {
  ...oldest,
  resolutions: ['720p', '1080p'],
  seconds: { min: 3, max: 15 },
  references: { images: 9, videos: 0 },
  mediaList: true,
};
const wan30: WanModel = {
  kind: 'any',
  shape: 'resolution_and_ratio',
  resolutions: ['480p', '720p', '1080p'],
  seconds: { min: 2, max: 30, auto: true },
  references: { images: 10, videos: 5 },
  audios: 5,
  generatesAudio: true,
  mediaList: true,
  lastFrame: true,
};

type Row = readonly [name: RegExp, model: WanModel];

export const wanModels: readonly Row[] = [
  ...rowsOf('happyhorse', ['r2v', 'i2v', 't2v'], happyHorse),
  [/wan3\./, wan30],
  ...rowsOf('wan2\\.7', ['r2v'], { ...wan27, audios: 0 }),
  ...rowsOf('wan2\\.7', ['i2v', 't2v'], wan27),
  ...rowsOf('wan2\\.6', ['r2v', 'i2v', 't2v'], wan26),
  ...rowsOf('wan2\\.5', ['i2v', 't2v'], wan25),
  ...rowsOf('wanx?2\\.[0-4]', ['kf2v', 'i2v', 't2v'], oldest),
];

/** A model that is missing from the table is treated like the newest one. */
export function wanModel(upstream: string): WanModel {
  return wanModels.find(([name]) => name.test(upstream))?.[1] ?? wan30;
}

function rowsOf(name: string, kinds: readonly Kind[], generation: Generation): Row[] {
  return kinds.map((kind) => [
    new RegExp(`${name}.*${kind}`),
    { ...generation, kind, shape: shapeOf(kind, generation) },
  ]);
}

/**
 * Decides how a request specifies the output's shape. An input image determines the shape, and only models before 2.7
 * accept pixel sizes.
 */
function shapeOf(kind: Kind, { mediaList }: Generation): WanModel['shape'] {
  if (kind === 'i2v' || kind === 'kf2v') return 'resolution';
  return mediaList ? 'resolution_and_ratio' : 'size';
}
