import type { ImageInput, ImageRequest } from '../../domain/request.ts';
import { defined } from '../../domain/defined.ts';
import { isFetched } from '../../domain/model-facts-check.ts';
import { runwayAddresses } from './runway-facts.ts';
import { runwayImageModel } from './runway-image-models.ts';
import type { RunwayImageModel } from './runway-image-models.ts';
import { issue } from '../shared/request-issue.ts';
import { cancelRunway, runwayStatus, submitRunway } from './runway-task.ts';
import type { OutgoingObject } from '../shared/file-data-url.ts';
import { pick } from '../shared/image-convention.ts';
import { imageAddress, parseSize } from '../shared/image-input.ts';
import type { RequestIssue, TaskProvider } from '../provider.ts';

/** Images of Runway, which are jobs. Not covered: the `subject` of a reference. */
export const runwayImage: TaskProvider<ImageRequest> = {
  cancelUntil: 'running',
  check,
  submit: async (request, context) =>
    submitRunway({ path: '/v1/text_to_image', json: buildImage(request, context.model) }, context),
  status: (operation, context) => runwayStatus(operation, context, 'image'),
  cancel: cancelRunway,
};

/** The ratio is a pixel pair, or a word: `auto`, or `auto_1k` for the class `1K`. */
function ratioOf(size: string | undefined, { ratios, usual }: RunwayImageModel): string | undefined {
  if (size === undefined) return usual;
  const pixels = parseSize(size);
  const ratio =
    pixels === undefined
      ? size.toLowerCase().replace(/^(?=[12]k$)/, 'auto_')
      : `${pixels.width}:${pixels.height}`;
  const isTaken = ratios === undefined ? pixels !== undefined : ratios.includes(ratio);
  return isTaken ? ratio : undefined;
}

function check(request: ImageRequest, name: string): RequestIssue | undefined {
  const model = runwayImageModel(name);
  const { images, mask, size, n, prompt, quality, extra } = request;
  if (prompt.length > model.promptMax)
    return issue('prompt', `The prompt must not exceed ${model.promptMax} characters.`);
  if (mask !== undefined) return issue('mask', 'The model does not accept a mask.');
  if (!model.counts.includes(n)) return issue('n', `n must be one of ${model.counts.join(', ')}.`);
  if (quality !== undefined && !model.qualities.includes(quality)) {
    return model.qualities.length === 0
      ? issue('quality', 'The model has no choice of quality.')
      : issue('quality', `quality must be one of ${model.qualities.join(', ')}.`);
  }
  if (extra['seed'] !== undefined && !model.fields.includes('seed'))
    return issue('seed', 'The model does not accept a seed.');
  if (model.needsImage && images.length === 0) return issue('image', 'The model needs a reference image.');
  if (
    images.some(
      (image) =>
        image.form === 'url' && !isFetched(image.url, runwayAddresses.schemes, runwayAddresses.characters),
    )
  )
    return issue('image', 'The upstream accepts https addresses and data.');
  return ratioOf(size, model) === undefined
    ? issue('size', 'size must be pixels that the model renders.')
    : undefined;
}

function buildImage(request: ImageRequest, name: string): OutgoingObject {
  const model = runwayImageModel(name);
  const { prompt, size, n, quality, images } = request;
  return {
    ...pick(request.extra, model.fields),
    model: name,
    promptText: prompt,
    ...(images.length === 0
      ? {}
      : { referenceImages: images.map((image, index) => reference(image, index, model)) }),
    ...defined({
      ratio: ratioOf(size, model),
      outputCount: n > 1 ? n : undefined,
      quality,
    }),
  };
}

function reference(image: ImageInput, index: number, { tags }: RunwayImageModel): OutgoingObject {
  return { uri: imageAddress(image), ...(tags ? { tag: `image_${index + 1}` } : {}) };
}
