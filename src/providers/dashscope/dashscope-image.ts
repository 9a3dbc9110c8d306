import type { ImageRequest, JsonObject } from '../../domain/request.ts';
import { dashscopeRefusal, imageLinks, linkExpiry, readDashscopeJob } from './dashscope-answer.ts';
import type { DashscopeJob } from './dashscope-answer.ts';
import {
  cancelDashscopeTask,
  dashscopeListMax,
  dashscopeStatus,
  listDashscopeTasks,
  submitDashscopeTask,
} from './dashscope-task.ts';
import { dashscopeFailures } from './dashscope-failures.ts';
import { defined } from '../../domain/defined.ts';
import { bearer, isSuccess, signedUrlExpiry, unreadableError } from '../shared/http-outcome.ts';
import { failedJob } from '../shared/job-status.ts';
import { pick } from '../shared/image-convention.ts';
import type { OutgoingObject } from '../shared/file-data-url.ts';
import { imageAddress, parseSize } from '../shared/image-input.ts';
import type {
  GeneratedImages,
  OperationStatus,
  ProviderContext,
  RequestIssue,
  SynchronousImageProvider,
  TaskProvider,
} from '../provider.ts';
import type { ResultItem, SettleFacts } from '../../domain/task.ts';

/**
 * Qwen and Wan images. Models of the multimodal path answer at once (`image`), the others with a task (`imageTask`);
 * a model belongs to exactly one of the two here. Links only: no base64 comes back.
 */
export const dashscopeImage: SynchronousImageProvider = {
  imageForms: ['url', 'data'],
  imagesPerCall,
  check: (request, model) => (isSynchronous(model) ? checkSynchronous(request, model) : wrongWay),
  generate,
};

export const dashscopeImageTask: TaskProvider<ImageRequest> = {
  cancelUntil: 'queued',
  check: (request, model) => (isSynchronous(model) ? wrongWay : checkTask(request, model)),
  submit: async (request, context) => {
    const edits = isEditModel(context.model);
    const path = edits ? 'image2image/image-synthesis' : 'text2image/image-synthesis';
    return submitDashscopeTask(path, buildTask(request, context.model), context);
  },
  status: (operation, context) => dashscopeStatus(operation, context, readTask),
  cancel: cancelDashscopeTask,
  list: listDashscopeTasks,
  listMax: dashscopeListMax,
};

const wrongWay: RequestIssue = { param: 'model', message: 'The model is served in another way.' };

function isSynchronous(model: string): boolean {
  return /^(?:qwen-image|z-image|wan2\.[6-9])/.test(model);
}

/** Source: the vendor's table of image models. */
function imagesPerCall(model: string): number {
  if (/^qwen-image-(?:[23]\.|edit-plus)/.test(model)) return 6;
  return /^wan2\.[67]-image/.test(model) ? 4 : 1;
}

function isEditModel(model: string): boolean {
  return /imageedit|i2i/.test(model);
}

const editImagesMax = 3;
const taskImagesMax = 4;

function checkSynchronous(request: ImageRequest, model: string): RequestIssue | undefined {
  if (request.mask !== undefined) return { param: 'mask', message: 'The model does not accept a mask.' };
  const takesImages = /edit|^wan|^qwen-image-[23]/.test(model);
  const imagesMax = model.startsWith('wan2.7') ? 9 : editImagesMax;
  const count = request.images.length;
  if (count > (takesImages ? imagesMax : 0)) {
    return {
      param: 'image',
      message: takesImages
        ? `The model accepts at most ${imagesMax} images.`
        : 'The model does not accept images.',
    };
  }
  if (count === 0 && model.includes('edit')) {
    return { param: 'image', message: 'The model edits an image; send one.' };
  }
  return checkForm(request);
}

function checkTask(request: ImageRequest, model: string): RequestIssue | undefined {
  const edits = isEditModel(model);
  if (edits !== request.images.length > 0) {
    const message = edits ? 'The model edits an image; send one.' : 'The model does not accept images.';
    return { param: 'image', message };
  }
  if (edits && request.images.length > (model.includes('i2i') ? editImagesMax : 1)) {
    return { param: 'image', message: 'The model does not accept this many images.' };
  }
  if (request.mask !== undefined && !model.includes('imageedit')) {
    return { param: 'mask', message: 'The model does not accept a mask.' };
  }
  if (request.n > taskImagesMax) return { param: 'n', message: `n must be at most ${taskImagesMax}.` };
  return checkForm(request);
}

function checkForm({ size }: ImageRequest): RequestIssue | undefined {
  return size === undefined || parseSize(size) !== undefined
    ? undefined
    : { param: 'size', message: 'size must be <width>x<height>.' };
}

const parameterFields = ['prompt_extend', 'watermark', 'seed', 'style', 'strength'];
export const dashscopeImageFields: readonly string[] = [...parameterFields, 'negative_prompt'];

async function generate(request: ImageRequest, context: ProviderContext): Promise<GeneratedImages> {
  const images = request.images.map(imageAddress);
  const answer = await context.request({
    method: 'POST',
    url: `${context.baseUrl}/services/aigc/multimodal-generation/generation`,
    headers: bearer(context),
    json: {
      model: context.model,
      input: {
        messages: [
          { role: 'user', content: [...images.map((image) => ({ image })), { text: request.prompt }] },
        ],
      },
      parameters: {
        ...pick(request.extra, dashscopeImageFields),
        ...sizeField(request.size),
        // Always: some models generate four images by default.
        n: request.n,
      },
    },
    signal: context.signal,
  });
  if (!isSuccess(answer)) throw dashscopeRefusal(answer);
  const job = readDashscopeJob(answer.json);
  const items = job === undefined ? [] : resultItems(job, dayAfter(answer.headers['date']));
  if (job === undefined || items.length === 0) throw unreadableError(answer, 'it holds no image');
  return { images: items, facts: facts(job, items.length), extra: {} };
}

function buildTask(request: ImageRequest, model: string): OutgoingObject {
  const images = request.images.map(imageAddress);
  const mask = request.mask === undefined ? undefined : imageAddress(request.mask);
  const [base] = images;
  const media = model.includes('imageedit')
    ? defined({
        function: mask === undefined ? 'description_edit' : 'description_edit_with_mask',
        base_image_url: base,
        mask_image_url: mask,
      })
    : defined({ images: images.length === 0 ? undefined : images });
  return {
    model,
    input: { ...pick(request.extra, ['negative_prompt']), prompt: request.prompt, ...media },
    parameters: { ...pick(request.extra, parameterFields), ...sizeField(request.size), n: request.n },
  };
}

/** Links live a day; a synchronous answer reports no end, but when it was sent. */
function dayAfter(date: string | undefined): number | undefined {
  const at = Date.parse(date ?? '');
  return Number.isNaN(at) ? undefined : at / 1000 + 24 * 3600;
}

/** With an asterisk. */
function sizeField(size: string | undefined): JsonObject {
  return size === undefined ? {} : { size: size.replace(/x/i, '*') };
}

function readTask(job: DashscopeJob): OperationStatus | undefined {
  const items = resultItems(job, linkExpiry(job.output.end_time));
  if (items.length > 0) return { state: 'succeeded', items, facts: facts(job, items.length) };
  // Every image was refused on its own, inside a task that "succeeded".
  const refused = (job.output.results ?? []).find(({ code }) => code !== undefined);
  return refused === undefined ? undefined : failedJob(dashscopeFailures, refused);
}

function resultItems(job: DashscopeJob, unsignedExpiry: number | undefined): ResultItem[] {
  return imageLinks(job).map((url) => defined({ url, expiresAt: signedUrlExpiry(url) ?? unsignedExpiry }));
}

function facts({ usage }: DashscopeJob, images: number): SettleFacts {
  const { width, height } = usage ?? {};
  return defined({
    images,
    size: width === undefined || height === undefined ? usage?.size?.replace('*', 'x') : `${width}x${height}`,
  });
}
