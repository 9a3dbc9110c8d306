export interface SeedanceFamily {
  readonly pixels: 'first_generation' | 'later' | 'unknown';
  readonly durations: { readonly min: number; readonly max: number; readonly auto: boolean };
  readonly resolutions: readonly string[];
  readonly frames: 0 | 1 | 2;
  readonly references: { readonly images: number; readonly videos: number; readonly audios: number };
  readonly referenceSeconds: number;
  readonly audioAlone: boolean;
  /**
   * True if the output keeps its input's shape when frames are given or a video is edited or extended. `adaptive` is
   * then the only accepted ratio.
   */
  readonly keepsShape: boolean;
  readonly referencesExclude: readonly string[];
  readonly generatesAudio: boolean;
  readonly draft: boolean;
  readonly tools: boolean;
  readonly flex: boolean;
  readonly frameCount: boolean;
}

const upTo1080p = ['480p', '720p', '1080p'];
const noReferences = { images: 0, videos: 0, audios: 0 };

const firstGeneration: SeedanceFamily = {
  pixels: 'first_generation',
  durations: { min: 2, max: 12, auto: false },
  resolutions: upTo1080p,
  frames: 2,
  references: noReferences,
  referenceSeconds: 0,
  audioAlone: false,
  keepsShape: false,
  referencesExclude: [],
  generatesAudio: false,
  draft: false,
  tools: false,
  flex: true,
  frameCount: true,
};

const secondGeneration: SeedanceFamily = {
  pixels: 'later',
  durations: { min: 4, max: 15, auto: true },
  resolutions: [...upTo1080p, '4k'],
  frames: 2,
  references: { images: 9, videos: 3, audios: 3 },
  referenceSeconds: 15,
  audioAlone: false,
  keepsShape: false,
  referencesExclude: [],
  generatesAudio: true,
  draft: false,
  tools: true,
  flex: false,
  frameCount: false,
};

/**
 * Covers private endpoint ids (`ep-…`) and models that are newer than the table. The upstream decides what they accept.
 */
const unknownFamily: SeedanceFamily = {
  pixels: 'unknown',
  durations: { min: 1, max: 30, auto: true },
  resolutions: [...upTo1080p, '4k'],
  frames: 2,
  references: { images: 30, videos: 10, audios: 10 },
  referenceSeconds: 30,
  audioAlone: true,
  keepsShape: false,
  referencesExclude: [],
  generatesAudio: true,
  draft: true,
  tools: true,
  flex: true,
  frameCount: true,
};

export const seedanceFamilies: readonly (readonly [RegExp, SeedanceFamily])[] = [
  [/seedance-1-0-lite-t2v/i, { ...firstGeneration, frames: 0 }],
  [
    /seedance-1-0-lite/i,
    {
      ...firstGeneration,
      references: { images: 4, videos: 0, audios: 0 },
      referencesExclude: ['1080p'],
    },
  ],
  [/seedance-1-0/i, firstGeneration],
  [
    /seedance-1-5/i,
    {
      ...secondGeneration,
      durations: { min: 4, max: 12, auto: true },
      resolutions: upTo1080p,
      references: noReferences,
      draft: true,
      tools: false,
      flex: true,
    },
  ],
  [/seedance-2-0-(?:fast|mini)/i, { ...secondGeneration, resolutions: ['480p', '720p'] }],
  [/seedance-2-0/i, secondGeneration],
  [
    /seedance-2-5/i,
    {
      ...secondGeneration,
      resolutions: upTo1080p,
      durations: { min: 4, max: 30, auto: true },
      references: { images: 30, videos: 10, audios: 10 },
      referenceSeconds: 30,
      audioAlone: true,
      keepsShape: true,
      draft: true,
    },
  ],
];

export function seedanceFamily(model: string | undefined): SeedanceFamily {
  return seedanceFamilies.find(([name]) => name.test(model ?? ''))?.[1] ?? unknownFamily;
}

/** A private endpoint may serve a Seedance model, so it is treated as one. */
export function isSeedance(model: string): boolean {
  return seedanceFamily(model) !== unknownFamily || /^ep-/i.test(model);
}

/** Every video has this frame rate, whatever the request says. */
export const seedanceFramesPerSecond = 24;
