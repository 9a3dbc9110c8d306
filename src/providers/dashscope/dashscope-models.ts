/** What the adapter knows of the Wan video models. Source: the vendor's parameter tables, 2026-11. */
export interface WanModel {
  readonly kind: 't2v' | 'i2v' | 'kf2v' | 'r2v';
  /** How the picture's shape is asked for. */
  readonly shape: 'size' | 'resolution' | 'resolution_and_ratio';
  readonly durations: readonly number[];
  readonly audiosMax: number;
  readonly generatesAudio: boolean;
  /** All media in one list, from 2.7 on. */
  readonly mediaList: boolean;
  /** An i2v model that takes an end frame too. */
  readonly lastFrame: boolean;
}

const twoToFifteen = Array.from({ length: 14 }, (_, index) => index + 2);

export function wanModel(name: string): WanModel {
  const kind = (['kf2v', 'r2v', 'i2v', 't2v'] as const).find((word) => name.includes(word)) ?? 't2v';
  const [, major, minor] = /wanx?(\d+)\.(\d+)/.exec(name) ?? [];
  // A model newer than this table is taken for the newest that is in it.
  const version = major === undefined ? 27 : Number(major) * 10 + Number(minor);
  const mediaList = version >= 27;
  return {
    kind,
    shape: shapeOf(kind, mediaList),
    durations: durationsOf(version),
    audiosMax: version >= 25 && kind !== 'kf2v' ? 1 : 0,
    generatesAudio: version >= 25,
    mediaList,
    lastFrame: mediaList && kind === 'i2v',
  };
}

function shapeOf(kind: WanModel['kind'], mediaList: boolean): WanModel['shape'] {
  if (mediaList) return 'resolution_and_ratio';
  return kind === 't2v' || kind === 'r2v' ? 'size' : 'resolution';
}

function durationsOf(version: number): readonly number[] {
  if (version >= 26) return twoToFifteen;
  return version === 25 ? [5, 10] : [5];
}
