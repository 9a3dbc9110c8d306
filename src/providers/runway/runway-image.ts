import type { ImageInput, ImageRequest } from '../../models/request.ts';
import { defined } from '../../base/defined.ts';
import type { ImageShape } from '../../base/image-sizes.ts';
import { readImage } from '../shared/read-facts.ts';
import { runwayImageFacts, runwayImageModel, type RunwayImageModel } from './runway-image-models.ts';
import { cancelRunway, runwayStatus, submitRunway } from './runway-task.ts';
import type { OutgoingObject } from '../shared/file-data-url.ts';
import { imageAddress } from '../shared/image-input.ts';
import type { ImageTaskProvider, SubmitContext } from '../provider.ts';

/** Runway images are rendered as jobs. The `subject` of a reference image is not supported. */
export const runwayImage: ImageTaskProvider = {
  cancelUntil: 'queued',
  facts: runwayImageFacts,
  submit: async (request, context) =>
    submitRunway({ path: '/v1/text_to_image', json: buildImage(request, context) }, context),
  status: (operation, context) => runwayStatus(operation, context, 'image'),
  cancel: cancelRunway,
};

/** The vendor writes a ratio as a pixel pair, or as a word such as `auto` or (for the class `1K`) `auto_1k`. */
function ratioOf({ pixels, word }: ImageShape): string | undefined {
  if (pixels !== undefined) return `${pixels.width}:${pixels.height}`;
  return word?.toLowerCase().replace(/^(?=\dk$)/, 'auto_');
}

function buildImage(request: ImageRequest, context: SubmitContext): OutgoingObject {
  const { model: name } = context;
  const model = runwayImageModel(name);
  const { passed, shape } = readImage(request, runwayImageFacts, context);
  const { prompt, n, images } = request;
  return {
    ...passed,
    model: name,
    promptText: prompt,
    ...(images.length === 0
      ? {}
      : { referenceImages: images.map((image, index) => reference(image, index, model)) }),
    ...defined({
      ratio: ratioOf(shape) ?? model.usual,
      outputCount: n > 1 ? n : undefined,
    }),
  };
}

function reference(image: ImageInput, index: number, { tags }: RunwayImageModel): OutgoingObject {
  return { uri: imageAddress(image), ...(tags ? { tag: `image_${index + 1}` } : {}) };
}
