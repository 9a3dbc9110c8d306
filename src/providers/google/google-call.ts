import { googleRefusal } from './google-failures.ts';
import { bearer, isSuccess, unknownJob } from '../shared/http-outcome.ts';
import { UpstreamError } from '../provider.ts';
import type { HttpRequestOptions, HttpResponse, ProviderContext } from '../provider.ts';

/**
 * Two houses of one vendor: the Gemini API with a key, and Vertex with an access token as the key. The base address
 * says which: that of Vertex ends with `/publishers/google`.
 */
export function isVertex({ baseUrl }: Pick<ProviderContext, 'baseUrl'>): boolean {
  return baseUrl.endsWith('/publishers/google');
}

function googleHeaders(context: Pick<ProviderContext, 'baseUrl' | 'credential'>): Record<string, string> {
  return isVertex(context) ? bearer(context) : { 'x-goog-api-key': context.credential.apiKey };
}

/** Where interactions are; on Vertex in another version, beside the publishers. */
export function interactionsUrl({ baseUrl }: Pick<ProviderContext, 'baseUrl'>): string {
  return `${baseUrl.replace(/\/v1\/(?=projects\/)/, '/v1beta1/').replace(/\/publishers\/google$/, '')}/interactions`;
}

/** Throws UpstreamError for what is not a success. */
export async function callGoogle(
  request: Omit<HttpRequestOptions, 'headers' | 'signal'>,
  context: ProviderContext,
): Promise<HttpResponse> {
  const answer = await context.request({
    ...request,
    headers: googleHeaders(context),
    signal: context.signal,
  });
  if (!isSuccess(answer)) throw googleRefusal(answer);
  return answer;
}

/**
 * An exchange about a job that exists already. That the vendor does not know it is its own 404, which has a body with
 * a code: one without is a page of something in between.
 */
export async function callAboutJob(
  request: Omit<HttpRequestOptions, 'headers' | 'signal'>,
  context: ProviderContext,
  isUnknown: (error: UpstreamError) => boolean = () => false,
): Promise<HttpResponse> {
  try {
    return await callGoogle(request, context);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const isOwn404 = error.status === 404 && error.code !== 'http_404';
    if (isOwn404 || isUnknown(error)) throw unknownJob(error.status, error);
    throw error;
  }
}

export interface GoogleModel {
  readonly name: string;
  /** On Vertex: where results are written, `gs://…`. */
  readonly store?: string;
}

/** The upstream's name, on Vertex with the folder of the results behind it: `veo-3.1-generate-001@gs://bucket/folder`. */
export function readGoogleModel(upstream: string): GoogleModel {
  const at = upstream.indexOf('@gs://');
  return at < 0 ? { name: upstream } : { name: upstream.slice(0, at), store: upstream.slice(at + 1) };
}

/** The model of a video, whose folder must agree with the house: nothing else has links to what is rendered. */
export function requireGoogleModel(context: ProviderContext): GoogleModel {
  const model = readGoogleModel(context.model);
  if (isVertex(context) === (model.store !== undefined)) return model;
  const message = isVertex(context)
    ? 'Vertex needs a folder for results: <model>@gs://<bucket>/<folder>.'
    : 'The Gemini API writes to no folder: the model must be named without @gs://.';
  throw new UpstreamError('unavailable', message, { code: 'wrong_upstream_name' });
}

/** The vendor's own hosts alone: a result's link, or a file of Cloud Storage. */
export function googleLinkHeaders(url: string, context: ProviderContext): Record<string, string> {
  const { origin } = new URL(url);
  const isOwn = origin === new URL(context.baseUrl).origin;
  const isStored = isVertex(context) && origin === storageOrigin;
  return isOwn || isStored ? googleHeaders(context) : {};
}

const storageOrigin = 'https://storage.googleapis.com';

/** `gs://bucket/file` as the address that serves it. */
export function storedFile(uri: string): string {
  const path = /^gs:\/\/(.+)$/.exec(uri)?.[1];
  return path === undefined ? uri : `${storageOrigin}/${path.split('/').map(encodeURIComponent).join('/')}`;
}
