/** What the adapter knows of the video models. Source: the vendor's pages of 2026-09, and its news of 2026-10. */
export interface KlingModel {
  /** Names with a `v` before the version are those of the legacy standard: `kling-v2-6`, `kling-video-o1`. */
  readonly isLegacy: boolean;
  /** Whether the model takes references on its own path: for every request, for those with references, or not. */
  readonly omni: 'always' | 'references' | 'never';
  /** Several images at once, on a service of their own. */
  readonly takesSet: boolean;
  readonly resolutions: readonly string[];
  readonly seconds: readonly number[];
  readonly ratios: readonly string[];
  readonly sound: 'never' | 'choice' | 'always';
  /** Sound is sold at 1080p only. */
  readonly soundNeeds1080p: boolean;
  /** The model cuts between shots unless the request forbids it. */
  readonly multiShot: boolean;
  readonly promptCharactersMax: number;
}

const wholeSeconds = (min: number, max: number) =>
  Array.from({ length: max - min + 1 }, (_, index) => index + min);

export function klingModel(name: string): KlingModel {
  const isLegacy = name.startsWith('kling-v');
  const isO1 = name.endsWith('-o1');
  const [, major, minor] = /^kling-v?(\d+)(?:[.-](\d+))?/.exec(name) ?? [];
  // A model newer than this table is taken for the third generation.
  const version = major === undefined ? 30 : Number(major) * 10 + Number(minor ?? '0');
  const isFourth = version >= 40;
  const isFullThird = version === 30 && !name.includes('turbo') && !isO1;
  return {
    isLegacy,
    omni: isO1 || name.endsWith('-omni') ? 'always' : isFourth ? 'references' : 'never',
    takesSet: isLegacy && version === 16,
    resolutions: isFullThird ? ['720p', '1080p', '4k'] : ['720p', '1080p'],
    seconds: secondsOf(version, isLegacy, isO1),
    ratios: isFourth ? ['16:9', '9:16', '1:1', '21:9'] : ['16:9', '9:16', '1:1'],
    sound: soundOf(version, name, isO1),
    soundNeeds1080p: version === 26,
    multiShot: !isLegacy && isFullThird,
    promptCharactersMax: isLegacy ? 2500 : isFourth ? 26_000 : 3072,
  };
}

function soundOf(version: number, name: string, isO1: boolean): KlingModel['sound'] {
  if (isO1 || version < 26) return 'never';
  return version >= 40 || name.includes('turbo') ? 'always' : 'choice';
}

/** Which lengths the new standard sells of the second generation is not documented: the vendor decides. */
function secondsOf(version: number, isLegacy: boolean, isO1: boolean): readonly number[] {
  if (isO1) return wholeSeconds(3, 10);
  if (version >= 40) return wholeSeconds(3, 30);
  return isLegacy && version < 30 ? [5, 10] : wholeSeconds(3, 15);
}
