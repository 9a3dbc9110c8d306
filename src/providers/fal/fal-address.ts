import type { Operation } from '../provider.ts';

/**
 * fal creates a request under the model's full name. Polls use the name of its app instead, which is usually the first
 * two parts of the full name. A URL from a response is used only if it is on the channel's own host and has this form.
 */

const part = String.raw`\w[\w.-]*`;
const modelName = new RegExp(`^${part}(?:/${part}){1,7}$`);
const appName = new RegExp(`^${part}/${part}(?:/${part})?$`);
const idPattern = /^[\w-]{1,100}$/;

export function isModelName(name: string): boolean {
  return name.length <= 200 && modelName.test(name);
}

export function isRequestId(id: string): boolean {
  return idPattern.test(id);
}

export function operationOf(id: string, endpoint: string, app = appOf(endpoint)): Operation {
  return { id, endpoint, app };
}

export function namedApp(statusUrl: string | undefined, id: string, baseUrl: string): string | undefined {
  const end = `/requests/${id}/status`;
  const start = [baseUrl, ...(isFal(baseUrl) ? queues : [])].find((host) =>
    statusUrl?.startsWith(`${host}/`),
  );
  if (start === undefined || statusUrl?.endsWith(end) !== true) return undefined;
  const app = statusUrl.slice(start.length + 1, -end.length);
  return app.length <= 200 && appName.test(app) ? app : undefined;
}

/** In these namespaces, an app name has three parts instead of two. */
const namespaces = new Set(['workflows', 'comfy']);

function appOf(endpoint: string): string {
  const parts = endpoint.split('/');
  return parts.slice(0, namespaces.has(parts[0] ?? '') ? 3 : 2).join('/');
}

/** The URL without a suffix returns the result. */
export function requestUrl(operation: Operation, baseUrl: string, what: '' | '/status' | '/cancel'): string {
  const { id, app = '' } = operation;
  return `${baseUrl}/${app}/requests/${id}${what}`;
}

/**
 * Both hosts have the same keys and jobs, and the second is a fallback. Source: the vendor's client, `@fal-ai/client`.
 */
const queues = ['https://queue.fal.run', 'https://queue.falrun.com'];

/** fal itself uses a separate host for each purpose. Any other host serves everything. */
function isFal(baseUrl: string): boolean {
  return /\.(?:fal\.run|falrun\.com)$/.test(new URL(baseUrl).hostname);
}

export function historyUrl(baseUrl: string, query: Readonly<Record<string, string>>): string {
  const platform = isFal(baseUrl) ? 'https://api.fal.ai/v1' : `${baseUrl}/v1`;
  return `${platform}/models/requests/by-endpoint?${new URLSearchParams(query).toString()}`;
}

export function keysUrl(baseUrl: string): string {
  const host = isFal(baseUrl) ? 'https://rest.fal.ai' : baseUrl;
  return `${host}/.well-known/jwks.json`;
}
