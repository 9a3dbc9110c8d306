import type { Operation } from '../provider.ts';

/**
 * Where fal is asked. A request is created at the whole name of a model, and asked for at its app, which is most often
 * the first two parts of the name. No address of an answer is used but on the channel's own host and in this form.
 */

const part = String.raw`\w[\w.-]*`;
const modelName = new RegExp(`^${part}(?:/${part}){1,7}$`);
const appName = new RegExp(`^${part}/${part}(?:/${part})?$`);
const idPattern = /^[\w-]{1,100}$/;

/** `owner/app`, with a path below it. */
export function isModelName(name: string): boolean {
  return name.length <= 200 && modelName.test(name);
}

export function isRequestId(id: string): boolean {
  return idPattern.test(id);
}

/** The operation is `{id, endpoint, app}`. */
export function operationOf(id: string, endpoint: string, app = appOf(endpoint)): Operation {
  return { id, endpoint, app };
}

/** The app that an answer to a submission names; undefined: it names none that may be asked. */
export function namedApp(statusUrl: string | undefined, id: string, baseUrl: string): string | undefined {
  const end = `/requests/${id}/status`;
  const start = [baseUrl, ...(isFal(baseUrl) ? queues : [])].find((host) =>
    statusUrl?.startsWith(`${host}/`),
  );
  if (start === undefined || statusUrl?.endsWith(end) !== true) return undefined;
  const app = statusUrl.slice(start.length + 1, -end.length);
  return app.length <= 200 && appName.test(app) ? app : undefined;
}

/** Names below these have one part more. */
const namespaces = new Set(['workflows', 'comfy']);

function appOf(endpoint: string): string {
  const parts = endpoint.split('/');
  return parts.slice(0, namespaces.has(parts[0] ?? '') ? 3 : 2).join('/');
}

/** The request itself is its result. */
export function requestUrl(operation: Operation, baseUrl: string, what: '' | '/status' | '/cancel'): string {
  const { id, app = '' } = operation;
  return `${baseUrl}/${app}/requests/${id}${what}`;
}

/** The second is the vendor's reserve, with the same keys and jobs. Its client, `@fal-ai/client`, knows both. */
const queues = ['https://queue.fal.run', 'https://queue.falrun.com'];

/** The platform has hosts of its own; a channel anywhere else serves everything itself. */
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
