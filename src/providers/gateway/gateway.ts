import { defined } from '../../base/defined.ts';
import { isModeration } from '../../errors/failure.ts';
import type { ImageRequest, VideoRequest } from '../../models/request.ts';
import { isSeedance } from '../shared/seedance-models.ts';
import { estimateSeedanceTokens, pricedPromptFlag, seedanceOutput } from '../shared/seedance-pricing.ts';
import {
  readGatewayFacts,
  readGatewayId,
  readGatewayImageJob,
  readGatewayRefusal,
  readGatewayStatus,
} from './gateway-answer.ts';
import { buildGatewayVideo, gatewayEndpoints, gatewayFacts } from './gateway-request.ts';
import { gatewayFailures } from './gateway-failures.ts';
import {
  bearer,
  isSuccess,
  refusalError,
  signedUrlExpiry,
  unknownJob,
  unreadableError,
} from '../shared/http-outcome.ts';
import { readImage } from '../shared/read-facts.ts';
import type { FactsTable } from '../../models/facts-table.ts';
import { callImageConvention, readConventionImages } from '../shared/image-convention.ts';
import type { ConventionRules } from '../shared/image-convention.ts';
import { imageAnswerBytesMax } from '../shared/image-input.ts';
import { UpstreamError } from '../provider.ts';
import type {
  GeneratedImages,
  HttpResponse,
  Operation,
  OperationStatus,
  PossibleOutput,
  Provider,
  ProviderContext,
  SubmitContext,
  Submitted,
  SynchronousImageProvider,
  VideoProvider,
} from '../provider.ts';

/**
 * Another gateway with the same API as ours or a similar one. Videos use the task dialect or the OpenAI dialect (see
 * `gatewayEndpoints`). Images follow the common convention, synchronously or as a task. The operation is `{id}`. Videos
 * that are served only as bytes and require the key are not supported.
 */
const gatewayVideo: VideoProvider = {
  check,
  facts: gatewayFacts,
  submit,
  status,
  cancelUntil: 'queued',
  cancel,
  linkHeaders: contentHeaders,
  someNeedKey: true,
  // Behind gateways, only Seedance models are priced by tokens, and the formula is the same everywhere.
  estimateTokens: estimateSeedanceTokens,
  renders,
};

const gatewayImageFacts: FactsTable = {
  origin: gatewayFacts.origin,
  models: [],
  others: {
    per_call: 10,
    fields: { size: true, quality: true },
    other_parameters: true,
    reserved: [
      'model',
      'prompt',
      'image',
      'mask',
      'n',
      'size',
      'response_format',
      'stream',
      'partial_images',
    ],
  },
};

const gatewayImage: SynchronousImageProvider = {
  imageForms: ['url', 'data', 'file'],
  facts: gatewayImageFacts,
  generate: generateImages,
  resume: resumeImages,
};

export const gateway: Provider = {
  about: {
    vendor: 'Another gateway with this API or a similar one (new-api)',
    inputs: 'text, frames, reference images, videos and audio, where the underlying model accepts them',
    unverified: [
      'whether a failed job is billed, which depends on the other gateway',
      'which format similar gateways use: their documentation and code disagree, so both formats are accepted',
    ],
  },
  video: gatewayVideo,
  image: gatewayImage,
};

/**
 * If `frames` replaces the duration, the response may report either length, depending on the vendor behind the gateway.
 */
function renders(request: VideoRequest, model: string): PossibleOutput {
  if (!isSeedance(model)) return {};
  const output = seedanceOutput(request, model);
  const { frames: _frames, ...extra } = request.extra;
  const timed = seedanceOutput({ ...request, extra }, model).seconds;
  if (output.seconds === undefined || timed === undefined) return output;
  const { min, max } = output.seconds;
  return { ...output, seconds: { min: Math.min(min, timed.min), max: Math.max(max, timed.max) } };
}

function check({ prompt }: VideoRequest): { param: string; message: string } | undefined {
  const flag = pricedPromptFlag(prompt);
  return flag === undefined
    ? undefined
    : { param: 'prompt', message: `The prompt contains the parameter --${flag}; use the field for it.` };
}

async function submit(request: VideoRequest, context: SubmitContext): Promise<Submitted> {
  const { submit: url, dialect } = gatewayEndpoints(context.baseUrl);
  const answer = await context.request({
    method: 'POST',
    url,
    // Gateways with our API support this header. Others ignore it.
    headers: { ...bearer(context), 'idempotency-key': context.marker },
    json: buildGatewayVideo(request, context, dialect),
    signal: context.signal,
  });
  if (!isSuccess(answer)) throw refusal(answer);
  const id = readGatewayId(answer.json);
  if (id !== undefined && id.length <= 200) return { operation: { id }, traceId: id };
  // A response that explains an error instead of containing an id is a rejection, even with a success status.
  const said = readGatewayRefusal(answer.json);
  if (said === undefined) throw unreadableError(answer, 'it has no id');
  throw refusalError({ ...answer, status: 400 }, said, gatewayFailures);
}

async function status(operation: Operation, context: ProviderContext): Promise<OperationStatus> {
  const endpoints = gatewayEndpoints(context.baseUrl);
  const url = endpoints.job(operation.id);
  const answer = await context.request({ method: 'GET', url, ...authorized(context) });
  if (!isSuccess(answer)) throw refusal(answer);
  const found = readGatewayStatus(answer.json, operation.id);
  if (found === undefined) {
    throw readGatewayRefusal(answer.json) === undefined
      ? unreadableError(answer, 'it has no status')
      : refusal(answer);
  }
  const content = `${endpoints.images}/videos/${encodeURIComponent(operation.id)}/content`;
  if (found !== 'no_link') return withOwnContent(found, content);
  const link = endpoints.dialect === 'videos' ? await contentLink(content, context) : undefined;
  if (link === undefined) throw unreadableError(answer, 'the job succeeded but has no link');
  return { state: 'succeeded', items: [link], facts: readGatewayFacts(answer.json), traceId: operation.id };
}

/**
 * new-api serves the videos of some of its upstreams (Sora, Gemini, Vertex) itself, at this path and only with the key.
 * Its link names the address that it is configured with, which need not be ours, and only ours may receive the key.
 */
const contentPath = /\/videos\/[^/]+\/content$/;

function withOwnContent(found: OperationStatus, content: string): OperationStatus {
  if (found.state !== 'succeeded') return found;
  const tail = contentPath.exec(content)?.[0] ?? content;
  const items = found.items.map((item) => (isServedAt(item.url, tail) ? { ...item, url: content } : item));
  return { ...found, items };
}

function isServedAt(url: string | undefined, tail: string): boolean {
  return url !== undefined && URL.canParse(url) && new URL(url).pathname.endsWith(tail);
}

function contentHeaders(url: string, context: ProviderContext): Readonly<Record<string, string>> {
  const { origin, pathname } = new URL(url);
  const isOwn = origin === new URL(context.baseUrl).origin && contentPath.test(pathname);
  return isOwn ? bearer(context) : {};
}

/** Some gateways redirect to a link that needs no key. Others serve the bytes themselves, to the key. */
async function contentLink(
  url: string,
  context: ProviderContext,
): Promise<{ url: string; expiresAt?: number } | undefined> {
  const { headers, signal } = authorized(context);
  const answer = await context
    .request({ method: 'GET', url, headers: { ...headers, range: 'bytes=0-0' }, signal })
    .catch((error: unknown) => {
      // Not every gateway sends only the range, and a video is larger than a response may be.
      if (error instanceof UpstreamError && error.code === 'answer_too_large') return undefined;
      throw error;
    });
  if (answer === undefined || isSuccess(answer)) return { url };
  const { location } = answer.headers;
  if (answer.status < 300 || answer.status >= 400 || location === undefined) return undefined;
  if (!URL.canParse(location, url)) return undefined;
  const link = new URL(location, url).href;
  const expiresAt = signedUrlExpiry(link);
  return expiresAt === undefined ? { url: link } : { url: link, expiresAt };
}

async function cancel(operation: Operation, context: ProviderContext): Promise<'cancelled' | 'refused'> {
  const url = `${gatewayEndpoints(context.baseUrl).job(operation.id)}/cancel`;
  const answer = await context.request({ method: 'POST', url, ...authorized(context) });
  if (isSuccess(answer)) {
    const found = readGatewayStatus(answer.json, operation.id);
    return typeof found === 'object' && found.state === 'failed' ? 'cancelled' : 'refused';
  }
  if (answer.status >= 400 && answer.status < 500 && answer.status !== 429) return 'refused';
  throw refusal(answer);
}

function authorized(context: ProviderContext): { headers: Record<string, string>; signal: AbortSignal } {
  return { headers: bearer(context), signal: context.signal };
}

const goneCodes = new Set(['task_not_exist', 'task_not_found']);

function refusal(answer: HttpResponse): UpstreamError {
  const said = readGatewayRefusal(answer.json);
  if (said !== undefined && goneCodes.has(said.code)) return unknownJob(answer.status, said);
  return refusalError(answer, said, gatewayFailures);
}

async function generateImages(request: ImageRequest, context: ProviderContext): Promise<GeneratedImages> {
  const hasFile = [...request.images, ...(request.mask === undefined ? [] : [request.mask])].some(
    (image) => image.form === 'file',
  );
  const { passed, size } = readImage(request, gatewayImageFacts, context);
  const { responseFormat, n, prompt } = request;
  const fields = {
    ...passed,
    model: context.model,
    prompt,
    n,
    ...defined({ size, response_format: responseFormat }),
  };
  const edit = request.operation === 'edit' || hasFile;
  return callImageConvention(
    {
      request,
      body: { path: edit ? '/images/edits' : '/images/generations', fields, multipart: hasFile },
    },
    { ...context, baseUrl: gatewayEndpoints(context.baseUrl).images },
    imageRules,
  );
}

const imageRules: ConventionRules = {
  readRefusal: readGatewayRefusal,
  readJob: readGatewayImageJob,
  failures: gatewayFailures,
  linkLifetimeSeconds: 3600,
};

async function resumeImages(job: string, context: ProviderContext): Promise<GeneratedImages> {
  const { images } = gatewayEndpoints(context.baseUrl);
  const answer = await context.request({
    method: 'GET',
    url: `${images}/images/generations/${encodeURIComponent(job)}?wait=20`,
    bodyBytesMax: imageAnswerBytesMax,
    largeStrings: true,
    ...authorized(context),
  });
  if (!isSuccess(answer)) throw refusal(answer);
  const found = readGatewayStatus(answer.json, job);
  if (found === undefined) throw unreadableError(answer, 'it has no status');
  if (found === 'no_link' || found.state === 'succeeded') return readConventionImages(answer, imageRules);
  if (found.state === 'pending') return { images: [], facts: {}, extra: {}, job };
  const { code, message, failure } = found;
  const isRefused = failure.class === 'invalid_input' || isModeration(failure.class);
  throw new UpstreamError(isRefused ? 'rejected' : 'ambiguous', message, { code, failure, gone: true });
}
