import type { ImageInput, ImageRequest } from '../../domain/request.ts';
import { defined } from '../../domain/defined.ts';
import { isAcceptedAddress } from './runway-check.ts';
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

/** Models with a count; of the others a job is one image. */
const counts: Readonly<Record<string, readonly number[]>> = {
  'gemini_image3.1_flash': [1, 4],
  gpt_image_2: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
};
const gen4Ratios = [
  '1024:1024', '1080:1080', '1168:880', '1360:768', '1440:1080', '1080:1440', '1808:768', '1920:1080', '1080:1920',
  '2112:912', '1280:720', '720:1280', '720:720', '960:720', '720:960', '1680:720',
]; // prettier-ignore
const promptCharactersMax = 1000;
const ratioUnsaid = '1024:1024';
export const runwayImageFields: readonly string[] = ['seed', 'contentModeration', 'background'];

function isGen4(model: string): boolean {
  return model.startsWith('gen4_image');
}

/** The ratio is a pixel pair; the classes `1K` and `2K` stand for the shape that the vendor chooses. */
function ratioOf(size: string | undefined, model: string): string | undefined {
  if (size === undefined) return ratioUnsaid;
  const named = /^(?:auto_)?([12])k$/i.exec(size);
  if (named !== null) return model === 'seedream5_pro' ? `auto_${named[1]}k` : undefined;
  const pixels = parseSize(size);
  if (pixels === undefined) return undefined;
  const pair = `${pixels.width}:${pixels.height}`;
  return isGen4(model) && !gen4Ratios.includes(pair) ? undefined : pair;
}

function check(request: ImageRequest, model: string): RequestIssue | undefined {
  const { images, mask, size, n, prompt, quality, extra } = request;
  if (isGen4(model) && prompt.length > promptCharactersMax)
    return issue('prompt', `The prompt must not exceed ${promptCharactersMax} characters.`);
  if (mask !== undefined) return issue('mask', 'The model does not accept a mask.');
  const allowed = counts[model] ?? [1];
  if (!allowed.includes(n)) return issue('n', `n must be one of ${allowed.join(', ')}.`);
  if (quality !== undefined && model !== 'gpt_image_2')
    return issue('quality', 'The model has no choice of quality.');
  if (extra['seed'] !== undefined && !isGen4(model))
    return issue('seed', 'The model does not accept a seed.');
  if (model === 'gen4_image_turbo' && images.length === 0)
    return issue('image', 'The model needs a reference image.');
  if (images.some((image) => image.form === 'url' && !isAcceptedAddress(image.url)))
    return issue('image', 'The upstream accepts https addresses and data.');
  return ratioOf(size, model) === undefined
    ? issue('size', 'size must be pixels that the model renders.')
    : undefined;
}

function buildImage(request: ImageRequest, model: string): OutgoingObject {
  const { prompt, size, n, quality, images } = request;
  return {
    ...pick(request.extra, runwayImageFields),
    model,
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

/** A prompt of the vendor's own models names a reference by its tag: `@image_1`. */
function reference(image: ImageInput, index: number, model: string): OutgoingObject {
  return { uri: imageAddress(image), ...(isGen4(model) ? { tag: `image_${index + 1}` } : {}) };
}
