import { googleRefusal } from './google-failures.ts';
import { bearer, isSuccess, unknownJob } from '../shared/http-outcome.ts';
import { UpstreamError } from '../provider.ts';
import type { HttpRequestOptions, HttpResponse, ProviderContext } from '../provider.ts';

/**
 * Vertex expects an access token, and the Gemini API an API key. The base URL of Vertex ends with `/publishers/google`.
 */
export function isVertex({ baseUrl }: Pick<ProviderContext, 'baseUrl'>): boolean {
  return baseUrl.endsWith('/publishers/google');
}

function googleHeaders(context: Pick<ProviderContext, 'baseUrl' | 'credential'>): Record<string, string> {
  return isVertex(context) ? bearer(context) : { 'x-goog-api-key': context.credential.apiKey };
}

export function interactionsUrl({ baseUrl }: Pick<ProviderContext, 'baseUrl'>): string {
  return `${baseUrl.replace(/\/v1\/(?=projects\/)/, '/v1beta1/').replace(/\/publishers\/google$/, '')}/interactions`;
}

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

/** A 404 with the vendor's body and code means that the job is unknown. Any other 404 comes from an intermediary. */
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
  readonly store?: string;
}

/** On Vertex, a model name includes the result folder: `veo-3.1-generate-001@gs://bucket/folder`. */
export function readGoogleModel(upstream: string): GoogleModel {
  const at = upstream.indexOf('@gs://');
  return at < 0 ? { name: upstream } : { name: upstream.slice(0, at), store: upstream.slice(at + 1) };
}

/**
 * On Vertex, the name must include a result folder, because the rendered file is available nowhere else. On the Gemini
 * API, it must not include one.
 */
export function requireGoogleModel(context: ProviderContext): GoogleModel {
  const model = readGoogleModel(context.model);
  if (isVertex(context) === (model.store !== undefined)) return model;
  const message = isVertex(context)
    ? 'Vertex needs a folder for results: <model>@gs://<bucket>/<folder>.'
    : 'The Gemini API does not write to a folder. Specify the model without @gs://.';
  throw new UpstreamError('unavailable', message, { code: 'wrong_upstream_name' });
}

/** Result links and Cloud Storage files require the key, which only the vendor's own hosts may receive. */
export function googleLinkHeaders(url: string, context: ProviderContext): Record<string, string> {
  const { origin } = new URL(url);
  const isOwn = origin === new URL(context.baseUrl).origin;
  const isStored = isVertex(context) && origin === storageOrigin;
  return isOwn || isStored ? googleHeaders(context) : {};
}

const storageOrigin = 'https://storage.googleapis.com';

export function storedFile(uri: string): string {
  const path = /^gs:\/\/(.+)$/.exec(uri)?.[1];
  return path === undefined ? uri : `${storageOrigin}/${path.split('/').map(encodeURIComponent).join('/')}`;
}
