/** What the adapter knows of the image models. Source: the vendor's pages of 2026-10. */
export interface BflImageModel {
  /** Where reference images go. */
  readonly inputs: 'numbered' | 'list' | 'prompt' | 'fill' | 'none';
  readonly imagesMax: number;
  readonly shape: Shape;
  /** What a size may be, in words. */
  readonly sizes: string;
  /** Fields of the caller that the model knows. */
  readonly fields: readonly string[];
  readonly formats: readonly string[];
  readonly callsBack: boolean;
  readonly linkLifeSeconds: number;
}

export type Shape =
  | {
      readonly kind: 'pixels';
      readonly step: number;
      readonly min: number;
      readonly max: number;
      readonly pixelsMax: number;
    }
  /** A ratio; the number of pixels is the model's own. */
  | { readonly kind: 'ratio'; readonly pixels: number; readonly ratios: readonly string[] }
  | {
      readonly kind: 'class';
      readonly classes: Readonly<Record<string, number>>;
      readonly ratios: readonly string[];
    }
  | { readonly kind: 'none' };

const megapixel = 1024 * 1024;
const common = ['seed', 'prompt_upsampling', 'safety_tolerance', 'output_format'];
const ratios = ['21:9', '16:9', '3:2', '4:3', '5:4', '1:1', '4:5', '3:4', '2:3', '9:16', '9:21'];

const flux2: BflImageModel = {
  inputs: 'numbered',
  imagesMax: 8,
  shape: { kind: 'pixels', step: 16, min: 64, max: 65_536, pixelsMax: 4 * megapixel },
  sizes: '<width>x<height> in multiples of 16, at least 64 and at most 4 megapixels',
  fields: common,
  formats: ['jpeg', 'png'],
  callsBack: true,
  linkLifeSeconds: 600,
};
const flux1: BflImageModel = {
  ...flux2,
  inputs: 'prompt',
  imagesMax: 1,
  shape: { kind: 'pixels', step: 32, min: 256, max: 1440, pixelsMax: 1440 * 1440 },
  sizes: '<width>x<height> in multiples of 32 from 256 to 1440',
  fields: [...common, 'image_prompt_strength'],
};
const byRatio = (pixels: number): Pick<BflImageModel, 'shape' | 'sizes'> => ({
  shape: { kind: 'ratio', pixels, ratios },
  sizes: `<width>x<height> of about ${pixels / megapixel} megapixels in one of the ratios ${ratios.join(', ')}`,
});

const classes = {
  '768sq': 768 ** 2,
  '1k': megapixel,
  '1.5k': 1536 ** 2,
  '2k': 4 * megapixel,
  '4k': 16 * megapixel,
};
const flux3: BflImageModel = {
  ...flux2,
  inputs: 'list',
  imagesMax: 10,
  shape: {
    kind: 'class',
    classes,
    ratios: [...ratios, '2:1', '1:2', '7:5', '5:7'],
  },
  sizes: `one of ${Object.keys(classes).join(', ')}, or pixels of about such an image in a ratio from 21:9 to 9:21`,
  fields: ['grounding', 'safety_tolerance', 'version'],
  formats: ['png'],
  callsBack: false,
  linkLifeSeconds: 3600,
};

const families: readonly (readonly [name: RegExp, model: BflImageModel])[] = [
  [/^flux-3-image/, flux3],
  [/^flux-2-klein/, { ...flux2, imagesMax: 4 }],
  [/^flux-2-flex/, { ...flux2, fields: [...common, 'steps', 'guidance'] }],
  [/^flux-2/, flux2],
  [/^flux-kontext/, { ...flux2, ...byRatio(megapixel), imagesMax: 1 }],
  [/^flux-pro-1\.1-ultra/, { ...flux1, ...byRatio(4 * megapixel), fields: [...flux1.fields, 'raw'] }],
  [
    /^flux-pro-1\.0-fill/,
    {
      ...flux1,
      inputs: 'fill',
      shape: { kind: 'none' },
      sizes: 'left to the image',
      fields: [...common, 'steps', 'guidance'],
    },
  ],
  [/^flux-dev/, { ...flux1, inputs: 'none', imagesMax: 0, fields: common }],
  [/^flux-pro-1/, flux1],
];

export const bflImageFields: readonly string[] = families.flatMap(([, { fields }]) => fields);

/** A model newer than this table is taken for one of FLUX.2. */
export function bflImageModel(name: string): BflImageModel {
  return families.find(([pattern]) => pattern.test(name))?.[1] ?? flux2;
}
