/** Pixel sizes differ between the 1.0 models and the later ones. */
type SizeTable = Readonly<Record<string, Readonly<Record<string, readonly [width: number, height: number]>>>>;

export interface ArkModel {
  /** Shortest and longest duration in seconds. */
  readonly duration: readonly [min: number, max: number];
  /** -1, the model's choice, is allowed. */
  readonly autoDuration: boolean;
  readonly resolutions: readonly string[];
  readonly defaultResolution: string;
  readonly sizes: SizeTable;
  /** Which features the model has. */
  readonly imageReferencesMax: number;
  readonly takesImages: boolean;
  readonly needsImage: boolean;
  readonly videoAndAudioReferences: boolean;
  /** Of videos, and as many of audios. */
  readonly clipsMax: number;
  readonly audioAlone: boolean;
  /** Guesses from prompt and media whether it edits, extends or only refers. */
  readonly guessesTask: boolean;
  readonly frames: boolean;
  readonly draft: boolean;
  readonly audio: boolean;
  readonly flex: boolean;
  readonly priority: boolean;
  readonly tools: boolean;
  readonly cameraFixed: boolean;
  readonly heic: boolean;
  /** Default ratio is `adaptive` whatever the input. */
  readonly adaptiveByDefault: boolean;
}

export const ratios = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9'] as const;

const sizesOf1: SizeTable = {
  '480p': { '16:9': [864, 480], '4:3': [736, 544], '1:1': [640, 640], '3:4': [544, 736], '9:16': [480, 864], '21:9': [960, 416] },
  '720p': { '16:9': [1248, 704], '4:3': [1120, 832], '1:1': [960, 960], '3:4': [832, 1120], '9:16': [704, 1248], '21:9': [1504, 640] },
  '1080p': { '16:9': [1920, 1088], '4:3': [1664, 1248], '1:1': [1440, 1440], '3:4': [1248, 1664], '9:16': [1088, 1920], '21:9': [2176, 928] },
}; // prettier-ignore

const sizesOf2: SizeTable = {
  '480p': { '16:9': [864, 496], '4:3': [752, 560], '1:1': [640, 640], '3:4': [560, 752], '9:16': [496, 864], '21:9': [992, 432] },
  '720p': { '16:9': [1280, 720], '4:3': [1112, 834], '1:1': [960, 960], '3:4': [834, 1112], '9:16': [720, 1280], '21:9': [1470, 630] },
  '1080p': { '16:9': [1920, 1080], '4:3': [1664, 1248], '1:1': [1440, 1440], '3:4': [1248, 1664], '9:16': [1080, 1920], '21:9': [2206, 946] },
  '4k': { '16:9': [3840, 2160], '4:3': [3840, 2880], '1:1': [3840, 3840], '3:4': [2880, 3840], '9:16': [2160, 3840], '21:9': [3840, 1646] },
}; // prettier-ignore

const upTo1080p = ['480p', '720p', '1080p'];

const first: ArkModel = {
  duration: [2, 12],
  autoDuration: false,
  resolutions: upTo1080p,
  defaultResolution: '1080p',
  sizes: sizesOf1,
  imageReferencesMax: 0,
  takesImages: true,
  needsImage: false,
  videoAndAudioReferences: false,
  clipsMax: 0,
  audioAlone: false,
  guessesTask: false,
  frames: true,
  draft: false,
  audio: false,
  flex: true,
  priority: false,
  tools: false,
  cameraFixed: true,
  heic: false,
  adaptiveByDefault: false,
};
const firstLite: ArkModel = { ...first, defaultResolution: '720p' };
const middle: ArkModel = {
  ...first,
  duration: [4, 12],
  autoDuration: true,
  defaultResolution: '720p',
  sizes: sizesOf2,
  frames: false,
  draft: true,
  audio: true,
  heic: true,
  adaptiveByDefault: true,
};
const second: ArkModel = {
  ...middle,
  duration: [4, 15],
  imageReferencesMax: 9,
  videoAndAudioReferences: true,
  clipsMax: 3,
  draft: false,
  flex: false,
  priority: true,
  tools: true,
  cameraFixed: false,
};
const secondAndAHalf: ArkModel = {
  ...second,
  duration: [4, 30],
  imageReferencesMax: 30,
  clipsMax: 10,
  audioAlone: true,
  guessesTask: true,
  draft: true,
  priority: false,
};
const secondFast: ArkModel = { ...second, resolutions: ['480p', '720p'] };

/** The ids of both regions. */
export const arkModels: ReadonlyMap<string, ArkModel> = new Map([
  ...bothRegions('seedance-1-0-pro-250528', first),
  ...bothRegions('seedance-1-0-pro-fast-251015', first),
  ...bothRegions('seedance-1-0-lite-t2v-250428', { ...firstLite, takesImages: false }),
  ...bothRegions('seedance-1-0-lite-i2v-250428', { ...firstLite, needsImage: true, imageReferencesMax: 4 }),
  ...bothRegions('seedance-1-5-pro-251215', middle),
  ['doubao-seedance-2-0-260128', second],
  ['doubao-seedance-2-0-fast-260128', secondFast],
  ['doubao-seedance-2-0-mini-260615', { ...secondFast, priority: false }],
  // 4k stands only in the price table of this region.
  ['dreamina-seedance-2-0-260128', { ...second, resolutions: [...upTo1080p, '4k'] }],
  ['dreamina-seedance-2-0-fast-260128', secondFast],
  ['dreamina-seedance-2-0-mini-260615', { ...secondFast, priority: false }],
  ['doubao-seedance-2-5-260628', secondAndAHalf],
  ['dreamina-seedance-2-5-260628', secondAndAHalf],
]);

function bothRegions(id: string, model: ArkModel): (readonly [string, ArkModel])[] {
  return [
    [`doubao-${id}`, model],
    [id, model],
  ];
}

/** What stands behind every private endpoint id here. */
const modelOfEndpoints = 'doubao-seedance-2-0-260128';

/** The underlying model of a model name or an endpoint id. */
export function findArkModel(name: string): { readonly name: string; readonly model: ArkModel } | undefined {
  const underlying = /^ep-[\w-]+$/.test(name) ? modelOfEndpoints : name;
  const model = arkModels.get(underlying);
  return model === undefined ? undefined : { name: underlying, model };
}

export function pixelSize(
  model: ArkModel,
  resolution: string,
  ratio: string,
): readonly [width: number, height: number] {
  return model.sizes[resolution]?.[ratio] ?? [1280, 720];
}

/** The observed formula, one frame more than the documented one. */
export function tokensOf(video: {
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  readonly frames: number | undefined;
  readonly inputVideoSeconds: number;
}): number {
  const pixels = video.width * video.height;
  if (video.frames !== undefined) return Math.floor((pixels * video.frames) / 1024);
  return Math.floor((pixels * (24 * video.seconds + 1 + 24 * video.inputVideoSeconds)) / 1024);
}
