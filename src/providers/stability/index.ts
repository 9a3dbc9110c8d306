import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import type { ImageRequest } from '../../models/request.ts';
import type { FailureTable, Refusal } from '../shared/failure-table.ts';
import { bearer, isSuccess, optionalText, refusalError, unreadableError } from '../shared/http-outcome.ts';
import type { ImageFacts } from '../../models/model-facts.ts';
import type { FactsTable } from '../../models/facts-table.ts';
import { plainParameters, readImage } from '../shared/read-facts.ts';
import { imageAnswerBytesMax, imageFile } from '../shared/image-input.ts';
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

/** The vendor's own 3:2 has 1216 x 832 pixels. */
const tolerance = 0.03;
const ratios = ['16:9', '1:1', '21:9', '2:3', '3:2', '4:5', '5:4', '9:16', '9:21'];

const core: ImageFacts = {
  fields: { size: true },
  data_only: true,
  references: { max: 0, mask: false },
  sizes: { about: 1.5 * 1024 ** 2, ratios, tolerance },
  parameters: plainParameters('negative_prompt', 'seed', 'output_format', 'style_preset'),
};
const ultra: ImageFacts = {
  ...core,
  references: { max: 1, mask: false },
  sizes: { about: 1024 ** 2, ratios, tolerance },
  parameters: { ...core.parameters, strength: {} },
  // An image brings its own ratio.
  cases: [{ when: { brings: ['references'] }, facts: { fields: { size: false } } }],
};

/** Any model that is in neither family is a Stable Diffusion model. */
const stabilityFacts: FactsTable = {
  origin: { source: 'the vendor’s reference', read: '2026-11' },
  models: [
    [/^core/, core],
    [/^ultra/, ultra],
  ],
  others: { ...ultra, parameters: { ...ultra.parameters, cfg_scale: {} } },
};

function pathOf(model: string): string {
  return ['core', 'ultra'].find((name) => model.startsWith(name)) ?? 'sd3';
}

function check({ images, extra }: ImageRequest): RequestIssue | undefined {
  return images.length > 0 && extra['strength'] === undefined
    ? issue('strength', 'strength (0 to 1) says how much of the image is replaced: name it.')
    : undefined;
}

/** Always a form. */
async function build(request: ImageRequest, context: ProviderContext): Promise<FormData> {
  const { prompt, images } = request;
  const { model } = context;
  const path = pathOf(model);
  const { passed, shape } = readImage(request, stabilityFacts, context);
  const [image] = images;
  const fields = {
    ...passed,
    prompt,
    ...(path === 'sd3' ? { model } : {}),
    ...defined({ aspect_ratio: shape.ratio ?? shape.word }),
    ...(image !== undefined && path === 'sd3' ? { mode: 'image-to-image' } : {}),
  };
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) {
    form.set(field, typeof value === 'string' ? value : JSON.stringify(value));
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
    url: `${baseUrl}/v2beta/stable-image/generate/${pathOf(model)}`,
    headers: { ...bearer(context), accept: 'application/json' },
    form: await build(request, context),
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
  facts: stabilityFacts,
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
};
