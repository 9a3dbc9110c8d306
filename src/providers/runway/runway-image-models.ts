import type { SizeFacts } from '../../base/image-sizes.ts';
import type { ImageFacts } from '../../models/model-facts.ts';
import type { FactsTable } from '../../models/facts-table.ts';
import { plainParameters } from '../shared/read-facts.ts';
import { runwayAddresses } from './runway-facts.ts';

/** A test compares these capabilities with the types in the vendor's SDK. */
export interface RunwayImageModel {
  /** Pixel pairs, and words that let the model choose the shape. Undefined if every size is sent unchanged. */
  readonly ratios?: readonly string[];
  readonly usual: string;
  readonly counts: readonly number[];
  readonly qualities: readonly string[];
  readonly fields: readonly string[];
  /** Whether prompts refer to references by tags such as `@image_1`. */
  readonly tags: boolean;
  readonly needsImage: boolean;
  /** In UTF-16 code units. */
  readonly promptMax: number;
}

const words = (text: string): readonly string[] => text.split(' ');

const square = '1024:1024';
const upToTen = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const base: RunwayImageModel = {
  usual: square,
  counts: [1],
  qualities: [],
  fields: [],
  tags: false,
  needsImage: false,
  promptMax: 32_000,
};
const gen4: RunwayImageModel = {
  ...base,
  ratios: words(
    '1024:1024 1080:1080 1168:880 1360:768 1440:1080 1080:1440 1808:768 1920:1080 1080:1920 2112:912 1280:720 720:1280 720:720 960:720 720:960 1680:720',
  ),
  fields: ['seed', 'contentModeration'],
  tags: true,
  promptMax: 1000,
};
const gpt: RunwayImageModel = {
  ...base,
  ratios: words(
    '2048:880 1920:1088 1920:1280 1920:1440 1920:1536 1920:1920 1536:1920 1440:1920 1280:1920 1088:1920 2912:1248 2560:1440 2560:1712 2560:1920 2560:2048 2560:2560 2048:2560 1920:2560 1712:2560 1440:2560 3840:1648 3840:2160 3504:2336 3264:2448 3200:2560 2880:2880 2560:3200 2448:3264 2336:3504 2160:3840 auto',
  ),
  usual: '1920:1920',
  counts: upToTen,
  qualities: ['low', 'medium', 'high', 'auto'],
  fields: ['background'],
};
const laterGpt: RunwayImageModel = { ...gpt, qualities: ['low', 'medium', 'high', 'xhigh', 'max'] };
const gemini1k = words(
  '1344:768 768:1344 1024:1024 1184:864 864:1184 1536:672 832:1248 1248:832 896:1152 1152:896',
);
const gemini2k = words(
  '2048:2048 1696:2528 2528:1696 1792:2400 2400:1792 1856:2304 2304:1856 1536:2752 2752:1536 3168:1344',
);
const gemini4k = words(
  '4096:4096 3392:5056 5056:3392 3584:4800 4800:3584 3712:4608 4608:3712 3072:5504 5504:3072 6336:2688',
);
const geminiSmall = words('512:512 416:624 624:416 432:592 592:432 448:576 576:448 384:672 672:384 768:336');
const geminiLong = words(
  '256:1024 1024:256 176:1408 1408:176 512:2048 2048:512 352:2816 2816:352 1024:4096 4096:1024 704:5632 5632:704 2048:8192 8192:2048 1408:11264 11264:1408',
);
const seedream: RunwayImageModel = {
  ...base,
  counts: upToTen,
  fields: ['outputFormat', 'grounding'],
  promptMax: 4000,
};

const known: Readonly<Record<string, RunwayImageModel>> = {
  gen4_image: gen4,
  gen4_image_turbo: { ...gen4, needsImage: true },
  gpt_image_2: gpt,
  gpt_image_2_5_flare: laterGpt,
  gpt_image_2_5_sunburst: laterGpt,
  'gemini_2.5_flash': { ...base, ratios: gemini1k },
  gemini_image3_pro: { ...base, ratios: [...gemini1k, ...gemini2k, ...gemini4k], counts: [1, 4] },
  'gemini_image3.1_flash': {
    ...base,
    ratios: [...geminiSmall, ...gemini1k, ...gemini2k, ...gemini4k, ...geminiLong],
    counts: [1, 4],
  },
  muse_image: {
    ...base,
    ratios: words('2352:1008 2016:1152 1920:1280 1792:1344 1600:1600 1344:1792 1280:1920 1152:2016 auto'),
    usual: '1600:1600',
    counts: upToTen,
    fields: ['outputFormat'],
  },
  seedream5_pro: {
    ...seedream,
    ratios: words(
      '1024:1024 1184:896 896:1184 1376:768 768:1376 1296:864 864:1296 2048:2048 2304:1728 1728:2304 2720:1530 1530:2720 2496:1664 1664:2496 auto_1k auto_2k',
    ),
  },
  seedream5_lite: { ...seedream, usual: '2048:2048' },
  grok_imagine_image_2: {
    ...base,
    ratios: words(
      '1024:1024 1280:720 720:1280 1152:864 864:1152 1248:832 832:1248 1248:576 576:1248 1280:576 576:1280 1408:704 704:1408 2048:2048 2816:1584 1584:2816 2368:1776 1776:2368 2496:1664 1664:2496 2912:1344 1344:2912 3200:1440 1440:3200 2912:1456 1456:2912 auto_1k auto_2k',
    ),
    counts: upToTen,
    qualities: ['low', 'medium'],
    fields: ['edit'],
  },
};

/** Returns `base` for a model that is newer than the table. The upstream decides which sizes it renders. */
export function runwayImageModel(name: string): RunwayImageModel {
  return known[name] ?? base;
}

function sizesOf({ ratios }: RunwayImageModel): SizeFacts {
  if (ratios === undefined) return { pixels: {} };
  return { only: ratios.map((ratio) => ratio.replace(':', 'x').replace(/^auto_(\dk)$/, '$1')) };
}

const addresses = { images: [...runwayAddresses.schemes], characters: runwayAddresses.characters };

const imageFields = { size: true, quality: true };

function factsOf(model: RunwayImageModel): ImageFacts {
  const { counts, qualities, fields, needsImage, promptMax } = model;
  return {
    fields: imageFields,
    images: counts.length === upToTen.length ? { max: upToTen.length } : { only: [...counts] },
    references: { min: needsImage ? 1 : 0, mask: false },
    addresses,
    prompt: { characters: promptMax },
    sizes: sizesOf(model),
    qualities: [...qualities],
    parameters: { seed: { values: [] }, ...plainParameters(...fields) },
  };
}

export const runwayImageFacts: FactsTable = {
  origin: { source: '@runwayml/sdk 4.20.1', read: '2026-11' },
  models: Object.entries(known).map(([name, model]) => [
    new RegExp(`^${name.replaceAll('.', '\\.')}$`),
    factsOf(model),
  ]),
  others: {
    fields: imageFields,
    references: { mask: false },
    addresses,
    parameters: { seed: { values: [] } },
  },
};
