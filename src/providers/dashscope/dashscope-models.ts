/** What the adapter knows of the Wan and HappyHorse video models. Source: the vendor's parameter tables, 2026-11. */
export interface WanModel {
  /** `any`: one model for everything, which goes by the media that it is given. */
  readonly kind: 't2v' | 'i2v' | 'kf2v' | 'r2v' | 'any' | 'edit';
  /** How the picture's shape is asked for. */
  readonly shape: 'size' | 'resolution' | 'resolution_and_ratio';
  readonly resolutions: readonly string[];
  readonly durations: readonly number[];
  /** The model chooses a duration where -1 is sent. */
  readonly autoDuration: boolean;
  readonly references: { readonly images: number; readonly videos: number };
  readonly audiosMax: number;
  readonly generatesAudio: boolean;
  /** Images and videos in one list, from 2.7 on. */
  readonly mediaList: boolean;
  /** An i2v model that takes an end frame too. */
  readonly lastFrame: boolean;
}

const wholeSeconds = (min: number, max: number) =>
  Array.from({ length: max - min + 1 }, (_, index) => index + min);
const anyReferences = { images: Infinity, videos: Infinity };

export function wanModel(name: string): WanModel {
  const kind = kindOf(name);
  if (name.startsWith('happyhorse')) return happyHorse(kind);
  const [, major, minor] = /wanx?(\d+)\.(\d+)/.exec(name) ?? [];
  // A model newer than this table is taken for the newest that is in it.
  const version = major === undefined ? 27 : Number(major) * 10 + Number(minor);
  if (version >= 30) return thirdGeneration;
  const mediaList = version >= 27;
  return {
    kind,
    shape: shapeOf(kind, mediaList),
    resolutions: mediaList ? ['720p', '1080p'] : ['480p', '720p', '1080p'],
    durations: durationsOf(version),
    autoDuration: false,
    references: mediaList ? { images: 5, videos: 5 } : anyReferences,
    audiosMax: version >= 25 && kind !== 'kf2v' && !(mediaList && kind === 'r2v') ? 1 : 0,
    generatesAudio: version >= 25,
    mediaList,
    lastFrame: mediaList && kind === 'i2v',
  };
}

function kindOf(name: string): WanModel['kind'] {
  if (/video-?edit/.test(name)) return 'edit';
  return (['kf2v', 'r2v', 'i2v', 't2v'] as const).find((word) => name.includes(word)) ?? 't2v';
}

const thirdGeneration: WanModel = {
  kind: 'any',
  shape: 'resolution_and_ratio',
  resolutions: ['480p', '720p', '1080p'],
  durations: wholeSeconds(2, 30),
  autoDuration: true,
  references: { images: 10, videos: 5 },
  audiosMax: 5,
  generatesAudio: true,
  mediaList: true,
  lastFrame: true,
};

function happyHorse(kind: WanModel['kind']): WanModel {
  return {
    kind,
    shape: shapeOf(kind, true),
    resolutions: ['720p', '1080p'],
    durations: wholeSeconds(3, 15),
    autoDuration: false,
    references: { images: 9, videos: 0 },
    audiosMax: 0,
    generatesAudio: false,
    mediaList: true,
    lastFrame: false,
  };
}

/** An image gives the shape; only the models before 2.7 take a size in pixels. */
function shapeOf(kind: WanModel['kind'], mediaList: boolean): WanModel['shape'] {
  if (kind === 'i2v' || kind === 'kf2v') return 'resolution';
  return mediaList ? 'resolution_and_ratio' : 'size';
}

function durationsOf(version: number): readonly number[] {
  if (version >= 26) return wholeSeconds(2, 15);
  return version === 25 ? [5, 10] : [5];
}
