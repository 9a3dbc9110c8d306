import { invalidValue } from './openai-error.ts';

/** One family of image models and what it takes. */
export interface OpenAiImageFamily {
  readonly family: 'gpt' | 'dall-e-2' | 'dall-e-3';
  readonly promptCharactersMax: number;
  readonly imagesMax: number;
  readonly sizes: readonly string[];
  /** Any size within the limits of the largest model. */
  readonly anySize: boolean;
  readonly qualities: readonly string[];
  readonly edits: boolean;
}

const gpt: OpenAiImageFamily = {
  family: 'gpt',
  promptCharactersMax: 32_000,
  imagesMax: 10,
  sizes: ['1024x1024', '1536x1024', '1024x1536', 'auto'],
  anySize: false,
  qualities: ['auto', 'high', 'medium', 'low'],
  edits: true,
};
const gpt2: OpenAiImageFamily = { ...gpt, anySize: true };
const dalle2: OpenAiImageFamily = {
  family: 'dall-e-2',
  promptCharactersMax: 1000,
  imagesMax: 10,
  sizes: ['256x256', '512x512', '1024x1024'],
  anySize: false,
  qualities: ['standard'],
  edits: true,
};
const dalle3: OpenAiImageFamily = {
  family: 'dall-e-3',
  promptCharactersMax: 4000,
  imagesMax: 1,
  sizes: ['1024x1024', '1792x1024', '1024x1792'],
  anySize: false,
  qualities: ['standard', 'hd'],
  edits: false,
};

export const openAiImageModels: ReadonlyMap<string, OpenAiImageFamily> = new Map([
  ['gpt-image-1', gpt],
  ['gpt-image-1-mini', gpt],
  ['gpt-image-1.5', gpt],
  ['gpt-image-2', gpt2],
  ['gpt-image-2-2026-04-21', gpt2],
  ['chatgpt-image-latest', gpt],
  ['dall-e-2', dalle2],
  ['dall-e-3', dalle3],
]);

const stepPixels = 16;
const ratioMax = 3;
const pixelsMax = 3840 * 2160;

/** The concrete size; `auto` and absent are square here. @throws {OpenAiError} 400 on `size`. */
export function readImageSize(
  size: string | undefined,
  family: OpenAiImageFamily,
): { width: number; height: number } {
  const asked = size === undefined || size === 'auto' ? '1024x1024' : size;
  const match = /^(\d{2,5})x(\d{2,5})$/.exec(asked);
  const [width, height] = [Number(match?.[1]), Number(match?.[2])];
  const isListed = family.sizes.includes(size ?? asked);
  if (match !== null && (isListed || (family.anySize && isAnySize(width, height)))) return { width, height };
  const supported = family.anySize ? `multiples of ${stepPixels} within the limits` : family.sizes.join(', ');
  throw invalidValue('size', `Invalid value: '${asked}'. Supported values are: ${supported}.`);
}

function isAnySize(width: number, height: number): boolean {
  const isStep = width % stepPixels === 0 && height % stepPixels === 0;
  return isStep && Math.max(width / height, height / width) <= ratioMax && width * height <= pixelsMax;
}

/** Output tokens of a square megapixel by quality; other sizes in proportion. */
const tokensPerSquare: Readonly<Record<string, number>> = { low: 272, medium: 1056, high: 4160 };

export function outputTokens(quality: string, { width, height }: { width: number; height: number }): number {
  return Math.round(((tokensPerSquare[quality] ?? 1056) * width * height) / (1024 * 1024));
}
