import { shapeOf, sizesInWords } from '../base/image-sizes.ts';
import type { PlainFacts } from '../models/model-facts.ts';
import {
  addressesInWords,
  isFetched,
  missingIssue,
  oneOf,
  parameterIssue,
  promptIssue,
} from '../models/model-facts-check.ts';
import type { FactsIssue } from '../models/model-facts-check.ts';
import type { ImageRequest } from '../models/request.ts';

/** Skips fields that are not sent, because callers are warned about those. */
export function imageFactsIssue(request: ImageRequest, facts: PlainFacts): FactsIssue | undefined {
  return (
    referencesIssue(request, facts) ??
    promptIssue(request, facts) ??
    countIssue(request, facts) ??
    shapeIssue(request, facts) ??
    parameterIssue(request.extra, facts.parameters) ??
    missingIssue({ ...request.extra, size: request.size, quality: request.quality }, facts)
  );
}

function referencesIssue(
  { images, mask }: ImageRequest,
  { references: { min = 0, max = Infinity, mask: hasMask } = {}, addresses }: PlainFacts,
): FactsIssue | undefined {
  const refuse = (message: string) => ({ param: 'image', message });
  if (images.length > max)
    return refuse(
      max === 0 ? 'The model does not accept images.' : `The model accepts at most ${max} images.`,
    );
  if (images.length < min) return refuse('The model edits images. Send one.');
  if (mask !== undefined && hasMask === false)
    return { param: 'mask', message: 'The model does not accept a mask.' };
  if (mask !== undefined && images.length === 0) return { param: 'mask', message: 'A mask needs an image.' };
  const { images: schemes, characters = Infinity } = addresses ?? {};
  const isForeign = images.some(
    (image) => image.form === 'url' && !isFetched(image.url, schemes, characters),
  );
  return isForeign ? refuse(addressesInWords(schemes, characters)) : undefined;
}

function countIssue({ n }: ImageRequest, { images = {} }: PlainFacts): FactsIssue | undefined {
  const { only, max = Infinity } = images;
  const refuse = (message: string) => ({ param: 'n', message });
  if (only !== undefined && !only.includes(n)) return refuse(oneOf('n', only));
  if (n <= max) return undefined;
  return refuse(max === 1 ? 'The model renders one image at a time.' : `n must be at most ${max}.`);
}

function shapeIssue({ quality, size }: ImageRequest, facts: PlainFacts): FactsIssue | undefined {
  const { qualities, sizes, fields = {} } = facts;
  const isSold = quality === undefined || qualities === undefined || qualities.includes(quality);
  if (fields.quality === true && !isSold) return { param: 'quality', message: oneOf('quality', qualities) };
  const isUnsent = fields.size !== true || size === undefined || sizes === undefined;
  return isUnsent || shapeOf(size, sizes) !== undefined
    ? undefined
    : { param: 'size', message: `size must be ${sizesInWords(sizes)}.` };
}
