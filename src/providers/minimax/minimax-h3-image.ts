import { parseSize } from '../../base/image-sizes.ts';
import { defined } from '../../base/defined.ts';
import type { ImageFacts } from '../../models/model-facts.ts';
import type { ImageRequest } from '../../models/request.ts';
import { callMinimax } from './minimax-call.ts';
import { minimaxFailures } from './minimax-failures.ts';
import type { OutgoingObject } from '../shared/file-data-url.ts';
import { readConventionImages } from '../shared/image-convention.ts';
import { imageAddress, imageAnswerBytesMax } from '../shared/image-input.ts';
import type { ReadImage } from '../shared/read-facts.ts';
import { issue } from '../shared/request-issue.ts';
import type { GeneratedImages, ProviderContext, RequestIssue } from '../provider.ts';

/**
 * H3-Image and H3-Image Highspeed use OpenAI's image API in JSON. Source: two resellers' pages, which quote the
 * vendor's reference of 2026-11-11. No SDK supports these models yet.
 */

export function isH3Image(model: string): boolean {
  return model.startsWith('MiniMax-H3-Image');
}

export const h3ImageFacts: ImageFacts = {
  fields: { size: true },
  per_call: 10,
  prompt: { characters: 32_000 },
  references: { max: 16, mask: false },
  sizes: {
    only: ['auto'],
    classes: { '1K': 1024 ** 2, '2K': 2048 ** 2, '4K': 4096 ** 2 },
    pixels: { min: 655_360, max: 20_000_000, longest: 3 },
  },
  parameters: {
    aspect_ratio: { type: 'text' },
    output_format: { values: ['png', 'jpeg', 'jpg', 'webp'] },
    output_compression: { type: 'integer', min: 0, max: 100 },
    disable_prompt_enhanced: { type: 'flag' },
  },
};

/** Rejects a pixel size together with a ratio, a rule that the facts table cannot express. */
export function checkH3Image({ size, extra }: ImageRequest): RequestIssue | undefined {
  return parseSize(size) !== undefined && extra['aspect_ratio'] !== undefined
    ? issue(
        'aspect_ratio',
        'A size in pixels already determines the ratio. Omit aspect_ratio, or request 1K, 2K or 4K.',
      )
    : undefined;
}

/**
 * In seconds. The lifetime of these links is undocumented, so this is the lifetime of the vendor's other image links.
 */
const linkLifetimeSeconds = 24 * 3600;

export async function generateH3Image(
  { prompt, n, images, responseFormat }: ImageRequest,
  { passed, size, shape }: ReadImage,
  context: ProviderContext,
): Promise<GeneratedImages> {
  const isEdit = images.length > 0;
  const json: OutgoingObject = {
    ...passed,
    model: context.model,
    prompt,
    n,
    ...defined({
      size: shape.class === undefined ? size : undefined,
      area: shape.class,
      response_format: responseFormat,
    }),
    ...(isEdit ? { images: images.map((image) => ({ image_url: imageAddress(image) })) } : {}),
  };
  const path = `/v1/images/${isEdit ? 'edits' : 'generations'}`;
  const limits = { bodyBytesMax: imageAnswerBytesMax, largeStrings: true };
  const answer = await callMinimax({ method: 'POST', path, json, limits }, context);
  const rules = { failures: minimaxFailures, readRefusal: () => undefined, linkLifetimeSeconds };
  return readConventionImages(answer, rules);
}
