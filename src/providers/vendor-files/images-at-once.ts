import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import type { FactsTable } from '../../models/facts-table.ts';
import type { ImageRequest } from '../../models/request.ts';
import type { VendorImages } from '../../models/vendor-file.ts';
import { isSuccess, optionalText, unreadableError } from '../shared/http-outcome.ts';
import { imageAnswerBytesMax } from '../shared/image-input.ts';
import type { GeneratedImages, ImageContext, SynchronousImageProvider } from '../provider.ts';
import { costOf, factsOf, listOf, readStatus } from './answers.ts';
import { buildRequest, callVendor, readAnswer, throwErrorIn, type Calling } from './call.ts';
import { createMediaMarks, markLargeTexts } from './media-marks.ts';
import { requestView } from './request-view.ts';

interface ImageCalling extends Calling {
  readonly images: VendorImages;
  readonly facts: FactsTable;
}

const imagesMax = 20;

export function imagesAtOnce(calling: ImageCalling): SynchronousImageProvider {
  return {
    facts: calling.facts,
    imageForms: calling.images.image_forms,
    generate: (request, context) => generate(request, context, calling),
  };
}

const imageSchema = z.object({
  url: optionalText,
  base64: optionalText,
  size: optionalText,
  quality: optionalText,
});
const answerSchema = z.object({
  images: listOf(imageSchema),
});

async function generate(
  request: ImageRequest,
  context: ImageContext,
  calling: ImageCalling,
): Promise<GeneratedImages> {
  const { generate: by } = calling.images;
  const marks = createMediaMarks();
  const view = requestView(request, { facts: calling.facts, context, marks });
  const built = await buildRequest({ source: by.request, view, bindings: {} }, marks, calling);
  const limits = by.base64 ? { bodyBytesMax: imageAnswerBytesMax, largeStrings: true } : {};
  const answer = await callVendor({ method: by.method, ...built, ...limits }, context, calling);
  const { value, large } = markLargeTexts(answer.json);
  const bindings = { model: context.model };
  const read = await readAnswer({ ...answer, json: value }, { source: by.answer, bindings }, calling);
  throwErrorIn(read, answer, calling);
  const images = (answerSchema.safeParse(read).data?.images ?? [])
    .filter(({ url, base64 }) => (url ?? base64) !== undefined)
    .slice(0, imagesMax)
    .map(({ base64, ...image }) => defined({ ...image, base64: large(base64) }));
  if (images.length === 0 || !isSuccess(answer)) throw unreadableError(answer, 'it contains no image');
  const status = readStatus(read);
  return {
    images,
    facts: { ...(status === undefined ? {} : factsOf(status)), images: images.length },
    extra: {},
    ...defined({ cost: costOf(status?.cost, calling.file) }),
  };
}
