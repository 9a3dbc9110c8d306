import { z } from 'zod';
import { defined } from '../../domain/defined.ts';
import type { ImageRequest } from '../../domain/request.ts';
import type { FailureTable, Refusal } from '../shared/failure-table.ts';
import { bearer, isSuccess, optionalText, refusalError, unreadableError } from '../shared/http-outcome.ts';
import { pick } from '../shared/image-convention.ts';
import { imageAnswerBytesMax, imageFile, parseSize } from '../shared/image-input.ts';
import { isAboutAsLarge, ratioOfPixels } from '../shared/image-shape.ts';
import { LargeText } from '../shared/large-json.ts';
import { issue } from '../shared/request-issue.ts';
import { UpstreamError } from '../provider.ts';
import type {
  GeneratedImages,
  HttpResponse,
  Provider,
  ProviderContext,
  RequestIssue,
  SynchronousImageProvider,
} from '../provider.ts';

/** Names of errors. Source: the vendor's reference. */
export const stabilityFailures: FailureTable = [
  { code: /^content_moderation$/, outcome: 'rejected', class: 'moderation_input' },
  {
    code: /^(?:payment_required|insufficient_credits|unauthorized|permission_denied)$/,
    outcome: 'unavailable',
    class: 'quota',
  },
  { code: /^rate_limit_exceeded$/, outcome: 'throttled', class: 'capacity' },
  { code: /^(?:bad_request|payload_too_large)$/, outcome: 'rejected', class: 'invalid_input' },
  { code: /^internal_error$/, class: 'internal' },
  // A path that is not there: a model that the vendor does not have.
  { status: 404, outcome: 'unavailable', class: 'quota' },
];

interface StabilityModel {
  readonly path: string;
  /** About what every image has. */
  readonly pixels: number;
  /** An image of the caller's to start from, beside `strength`. */
  readonly startsFromImage: boolean;
  readonly fields: readonly string[];
}

const common = ['negative_prompt', 'seed', 'output_format', 'style_preset'];
const ultra: StabilityModel = {
  path: 'ultra',
  pixels: 1024 ** 2,
  startsFromImage: true,
  fields: [...common, 'strength'],
};

/** By the beginning of the name; `sd3` alone has several models. Source: the vendor's reference. */
const models: readonly (readonly [name: string, model: StabilityModel])[] = [
  ['core', { path: 'core', pixels: 1.5 * 1024 ** 2, startsFromImage: false, fields: common }],
  ['ultra', ultra],
];
const sd3: StabilityModel = { ...ultra, path: 'sd3', fields: [...ultra.fields, 'cfg_scale'] };

function modelOf(name: string): StabilityModel {
  return models.find(([start]) => name.startsWith(start))?.[1] ?? sd3;
}

/** The vendor's own 3:2 has 1216 x 832 pixels. */
const tolerance = 0.03;
const ratios = ['16:9', '1:1', '21:9', '2:3', '3:2', '4:5', '5:4', '9:16', '9:21'];

/** The vendor takes a ratio in place of pixels; undefined: no such image is rendered. */
function ratioOf(size: string, { pixels }: StabilityModel): string | undefined {
  const asked = parseSize(size);
  return asked === undefined || !isAboutAsLarge(asked, pixels)
    ? undefined
    : ratioOfPixels(asked, ratios, tolerance);
}

function check({ images, mask, size, extra }: ImageRequest, name: string): RequestIssue | undefined {
  const model = modelOf(name);
  const imagesMax = model.startsFromImage ? 1 : 0;
  if (images.length > imagesMax)
    return issue(
      'image',
      imagesMax === 0 ? 'The model does not accept images.' : 'The model accepts one image.',
    );
  if (mask !== undefined) return issue('mask', 'The model does not accept a mask.');
  if (images.length > 0 && extra['strength'] === undefined)
    return issue('strength', 'strength (0 to 1) says how much of the image is replaced: name it.');
  return size === undefined || ratioOf(size, model) !== undefined
    ? undefined
    : issue(
        'size',
        `size must be pixels of about ${Math.round(model.pixels / 1024 ** 2)} MP in one of ${ratios.join(', ')}.`,
      );
}

/** Always a form. An image brings its own ratio. */
async function build(request: ImageRequest, name: string): Promise<FormData> {
  const { prompt, size, extra, images } = request;
  const model = modelOf(name);
  const [image] = images;
  const fields = {
    ...pick(extra, model.fields),
    prompt,
    ...(model.path === 'sd3' ? { model: name } : {}),
    ...defined({
      aspect_ratio: size === undefined || image !== undefined ? undefined : ratioOf(size, model),
    }),
    ...(image !== undefined && model.path === 'sd3' ? { mode: 'image-to-image' } : {}),
  };
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) {
    if (typeof value === 'string' || typeof value === 'number') form.set(field, String(value));
  }
  if (image !== undefined && image.form !== 'url') {
    const { blob, name: file } = await imageFile(image);
    form.set('image', blob, file);
  }
  return form;
}

const lockOutMs = 60_000;
const refusalSchema = z.object({ name: z.string(), errors: z.array(z.string()).catch([]) });

/** `{"id","name","errors":["prompt: cannot be blank"]}` */
function readRefusal({ status, json }: HttpResponse): Refusal | undefined {
  const said = refusalSchema.safeParse(json).data;
  if (said === undefined) return undefined;
  const message = said.errors.join(' ');
  return defined({
    code: said.name,
    message,
    field: /^(\w+): /.exec(message)?.[1],
    retryAfterMs: status === 429 ? lockOutMs : undefined,
  });
}

const answerSchema = z.object({
  image: z.union([z.string().min(1), z.instanceof(LargeText)]),
  finish_reason: optionalText,
});

async function generate(request: ImageRequest, context: ProviderContext): Promise<GeneratedImages> {
  const { baseUrl, model, signal } = context;
  const answer = await context.request({
    method: 'POST',
    url: `${baseUrl}/v2beta/stable-image/generate/${modelOf(model).path}`,
    headers: { ...bearer(context), accept: 'application/json' },
    form: await build(request, model),
    signal,
    bodyBytesMax: imageAnswerBytesMax,
    largeStrings: true,
  });
  if (!isSuccess(answer)) throw refusalError(answer, readRefusal(answer), stabilityFailures);
  const read = answerSchema.safeParse(answer.json).data;
  if (read === undefined) throw unreadableError(answer, 'it holds no image');
  // What it has then is blurred.
  if (read.finish_reason === 'CONTENT_FILTERED')
    throw new UpstreamError('rejected', 'The image did not pass moderation.', {
      code: 'CONTENT_FILTERED',
      status: answer.status,
      failure: { class: 'moderation_output' },
    });
  return { images: [{ base64: read.image }], facts: { images: 1 }, extra: {} };
}

/** Stable Image Core, Ultra and Stable Diffusion 3.5. Not covered: edits with a mask, control, upscaling. */
const image: SynchronousImageProvider = {
  imageForms: ['file', 'data'],
  imagesPerCall: () => 1,
  sendsDataOnly: () => true,
  check,
  generate,
};

export const stability: Provider = {
  about: {
    vendor: 'Stability AI',
    inputs:
      'text; for `ultra` and Stable Diffusion 3.5 an image to start from, with `strength`. Upstream names are `core`, `ultra` and those of Stable Diffusion (`sd3.5-large`)',
    unverified: [
      'the name of the error of an empty balance',
      'how large the images of `core` are: 1.5 megapixels are assumed',
    ],
  },
  image,
  imageFields: ['style_preset', 'strength', 'cfg_scale'],
};
