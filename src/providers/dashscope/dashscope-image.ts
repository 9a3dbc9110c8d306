import type { ImageRequest, JsonObject } from '../../models/request.ts';
import {
  dashscopeRefusal,
  imageLinks,
  linkExpiry,
  linkLifetimeSeconds,
  readDashscopeJob,
} from './dashscope-answer.ts';
import type { DashscopeJob } from './dashscope-answer.ts';
import {
  cancelDashscopeTask,
  dashscopeListMax,
  dashscopeStatus,
  listDashscopeTasks,
  submitDashscopeTask,
} from './dashscope-task.ts';
import { dashscopeFailures } from './dashscope-failures.ts';
import { defined } from '../../base/defined.ts';
import { bearer, expiryAfter, isSuccess, signedUrlExpiry, unreadableError } from '../shared/http-outcome.ts';
import { failedJob } from '../shared/job-status.ts';
import type { ImageFacts } from '../../models/model-facts.ts';
import type { FactsTable } from '../../models/facts-table.ts';
import { plainParameters, readImage } from '../shared/read-facts.ts';
import type { OutgoingObject } from '../shared/file-data-url.ts';
import { imageAddress } from '../shared/image-input.ts';
import type {
  GeneratedImages,
  ImageTaskProvider,
  OperationStatus,
  ProviderContext,
  RequestIssue,
  SubmitContext,
  SynchronousImageProvider,
} from '../provider.ts';
import type { ResultItem } from '../../task/task.ts';
import type { SettleFacts } from '../../money/settle-facts.ts';

const usual: ImageFacts = {
  fields: { size: true },
  references: { max: 3, mask: false },
  sizes: { pixels: {} },
  parameters: plainParameters('prompt_extend', 'watermark', 'seed', 'style', 'strength', 'negative_prompt'),
};
const edits: ImageFacts = { ...usual, references: { min: 1, max: 3, mask: false } };
const jobs: ImageFacts = { ...usual, images: { max: 4 } };

const dashscopeImageFacts: FactsTable = {
  origin: { source: 'the vendor’s table of image models', read: '2026-11' },
  models: [
    [/^qwen-image-(?:edit-plus|[23]\..*edit)/, { ...edits, per_call: 6 }],
    [/^(?:qwen|z)-image.*edit/, edits],
    [/^qwen-image-[23]\./, { ...usual, per_call: 6 }],
    [/^qwen-image-[23]/, usual],
    [/^(?:qwen|z)-image/, { ...usual, references: { max: 0, mask: false } }],
    [/^wan2\.7-image/, { ...usual, per_call: 4, references: { max: 9, mask: false } }],
    [/^wan2\.7/, { ...usual, references: { max: 9, mask: false } }],
    [/^wan2\.6-image/, { ...usual, per_call: 4 }],
    [/^wan2\.[689]/, usual],
    [/imageedit/, { ...jobs, references: { min: 1, max: 1, mask: true } }],
    [/i2i/, { ...jobs, references: { min: 1, max: 3, mask: false } }],
  ],
  others: { ...jobs, references: { max: 0, mask: false } },
};

/**
 * Qwen and Wan images. Models on the multimodal path respond synchronously (`image`). All others use tasks
 * (`imageTask`). Results are always links, never base64.
 */
export const dashscopeImage: SynchronousImageProvider = {
  imageForms: ['url', 'data'],
  facts: dashscopeImageFacts,
  check: (_request, model) => (isSynchronous(model) ? undefined : wrongWay),
  generate,
};

export const dashscopeImageTask: ImageTaskProvider = {
  cancelUntil: 'queued',
  facts: dashscopeImageFacts,
  check: (_request, model) => (isSynchronous(model) ? wrongWay : undefined),
  submit: async (request, context) => {
    const edits = isEditModel(context.model);
    const path = edits ? 'image2image/image-synthesis' : 'text2image/image-synthesis';
    return submitDashscopeTask(path, buildTask(request, context), context);
  },
  status: (operation, context) => dashscopeStatus(operation, context, readTask),
  cancel: cancelDashscopeTask,
  list: listDashscopeTasks,
  listMax: dashscopeListMax,
};

const wrongWay: RequestIssue = {
  param: 'model',
  message: 'This model works only as a task, or only synchronously.',
};

function isSynchronous(model: string): boolean {
  return /^(?:qwen-image|z-image|wan2\.[6-9])/.test(model);
}

function isEditModel(model: string): boolean {
  return /imageedit|i2i/.test(model);
}

async function generate(request: ImageRequest, context: ProviderContext): Promise<GeneratedImages> {
  const images = request.images.map(imageAddress);
  const { passed, size } = readImage(request, dashscopeImageFacts, context);
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
        ...passed,
        ...sizeField(size),
        // Always sent, because some models generate four images by default.
        n: request.n,
      },
    },
    signal: context.signal,
  });
  if (!isSuccess(answer)) throw dashscopeRefusal(answer);
  const job = readDashscopeJob(answer.json);
  const items = job === undefined ? [] : resultItems(job, expiryAfter(answer, linkLifetimeSeconds));
  if (job === undefined || items.length === 0) throw unreadableError(answer, 'it contains no image');
  return { images: items, facts: facts(job, items.length), extra: {} };
}

function buildTask(request: ImageRequest, context: SubmitContext): OutgoingObject {
  const { model } = context;
  const read = readImage(request, dashscopeImageFacts, context);
  const { negative_prompt: negative, ...passed } = read.passed;
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
    input: { ...defined({ negative_prompt: negative }), prompt: request.prompt, ...media },
    parameters: { ...passed, ...sizeField(read.size), n: request.n },
  };
}

function sizeField(size: string | undefined): JsonObject {
  return size === undefined ? {} : { size: size.replace(/x/i, '*') };
}

function readTask(job: DashscopeJob): OperationStatus | undefined {
  const items = resultItems(job, linkExpiry(job.output.end_time));
  if (items.length > 0) return { state: 'succeeded', items, facts: facts(job, items.length) };
  // A task can "succeed" even if every image was rejected.
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
