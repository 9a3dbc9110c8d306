import type { ImageFacts } from '../../models/model-facts.ts';
import type { FactsTable } from '../../models/facts-table.ts';
import { plainParameters } from '../shared/read-facts.ts';

const megapixel = 1024 ** 2;
const common = {
  ...plainParameters('seed', 'prompt_upsampling', 'safety_tolerance'),
  output_format: { values: ['jpeg', 'png'] },
};
const ratios = ['21:9', '16:9', '3:2', '4:3', '5:4', '1:1', '4:5', '3:4', '2:3', '9:16', '9:21'];

const flux2: ImageFacts = {
  fields: { size: true },
  images: { max: 1 },
  references: { max: 8, mask: false },
  sizes: { only: ['auto'], pixels: { step: 16, side_min: 64, max: 4 * megapixel } },
  parameters: common,
  reserved: ['webhook_url', 'webhook_secret'],
};
const flux1: ImageFacts = {
  ...flux2,
  references: { max: 1, mask: false },
  sizes: { only: ['auto'], pixels: { step: 32, side_min: 256, side_max: 1440 } },
  parameters: { ...common, image_prompt_strength: {} },
};
/** Requests for these models can specify only a ratio. The model chooses the pixel count. */
const byRatio = (about: number): ImageFacts => ({ sizes: { only: ['auto'], about, ratios } });

const flux3: ImageFacts = {
  ...flux2,
  references: { max: 10, mask: false },
  sizes: {
    only: ['auto'],
    classes: {
      '768sq': 768 ** 2,
      '1k': megapixel,
      '1.5k': 1536 ** 2,
      '2k': 4 * megapixel,
      '4k': 16 * megapixel,
    },
    ratios: [...ratios, '2:1', '1:2', '7:5', '5:7'],
  },
  parameters: {
    ...plainParameters('grounding', 'safety_tolerance', 'version'),
    seed: { values: [] },
    output_format: { values: ['png'], read: true },
  },
};

export const bflImageFacts: FactsTable = {
  origin: { source: 'the vendor’s pages on its models', read: '2026-10' },
  models: [
    [/^flux-3-image-klein/, flux3, { source: 'a gateway that sells it', read: '2026-11' }],
    [/^flux-3-image/, flux3],
    [/^flux-2-klein/, { ...flux2, references: { max: 4, mask: false } }],
    [/^flux-2-flex/, { ...flux2, parameters: { ...common, ...plainParameters('steps', 'guidance') } }],
    [/^flux-2/, flux2],
    [/^flux-kontext/, { ...flux2, ...byRatio(megapixel), references: { max: 1, mask: false } }],
    [
      /^flux-pro-1\.1-ultra/,
      { ...flux1, ...byRatio(4 * megapixel), parameters: { ...flux1.parameters, raw: {} } },
    ],
    [
      /^flux-pro-1\.0-fill/,
      {
        ...flux1,
        references: { min: 1, max: 1, mask: true },
        // The input image determines the size.
        sizes: { only: ['auto'] },
        parameters: { ...common, ...plainParameters('steps', 'guidance') },
      },
    ],
    [/^flux-dev/, { ...flux1, references: { max: 0, mask: false }, parameters: common }],
    [/^flux-pro-1/, flux1],
  ],
  others: {
    fields: flux2.fields,
    references: { mask: false },
    sizes: { only: ['auto'], pixels: {} },
    images: { max: 1 },
    parameters: plainParameters(...Object.keys(common)),
    reserved: flux2.reserved,
  },
};
