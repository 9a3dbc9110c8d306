import type * as Types from './types.ts';

export * from './callback.ts';
export type * from './types.ts';

export type Client = ReturnType<typeof createClient>;

export interface ClientOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** How often to retry if there is no response, or if the response permits it. Defaults to 3. */
  readonly retries?: number;
  readonly fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface CreateOptions extends CallOptions {
  /**
   * Requests with the same key create only one task. By default, each call has a key of its own, which its retries
   * share.
   */
  readonly idempotencyKey?: string;
}

export interface PageOptions extends CallOptions {
  readonly limit?: number;
  /** The id of the last item on the previous page. */
  readonly after?: string;
}

export interface WaitOptions<Task> extends CallOptions {
  readonly onAnswer?: (task: Task) => void;
}

/** docs/errors.md lists the codes of rejected requests. */
export class MediaryError extends Error {
  override readonly name = 'MediaryError';
  readonly status: number;
  readonly code: string;
  readonly param: string;
  readonly requestId: string;
  /** Undefined if the response did not come from the gateway. */
  readonly body: Types.Error['error'] | undefined;

  constructor(status: number, requestId: string, body: Types.Error['error'] | undefined) {
    super(body?.message ?? `The response with status ${status} did not come from the gateway.`);
    this.status = status;
    this.code = body?.code ?? '';
    this.param = body?.param ?? '';
    this.requestId = requestId;
    this.body = body;
  }
}

/** Works in Node and in browsers. Calls reject with MediaryError, or with whatever `fetch` throws. */
export function createClient(options: ClientOptions) {
  const call = createCall(options);
  const videos = tasksAt<Types.VideoTask>('/v1/videos/generations', call);
  const images = tasksAt<Types.ImageTask>('/v1/images/generations', call);
  const files = '/v1/files';
  return {
    videos: {
      ...videos,
      create: (body: Types.VideoRequest, more: CreateOptions = {}) =>
        call<Types.CreatedTask>('POST', '/v1/videos/generations', { ...more, ...once(more), body }),
      estimate: (body: Types.VideoRequest, more: CallOptions = {}) =>
        call<Types.Estimate>('POST', '/v1/videos/generations/estimate', { ...more, isSafe: true, body }),
    },
    images: {
      ...images,
      /** Resolves to images, or to a task if `async` is true or the model's upstream works asynchronously. */
      create: (body: Types.ImageGenerationRequest | Types.ImageGenerationForm, more: CreateOptions = {}) =>
        call<Types.Images | Types.CreatedTask>('POST', '/v1/images/generations', {
          ...more,
          ...once(more),
          body,
        }),
      edit: (body: Types.ImageEditRequest | Types.ImageEditForm, more: CreateOptions = {}) =>
        call<Types.Images | Types.CreatedTask>('POST', '/v1/images/edits', { ...more, ...once(more), body }),
      estimate: (body: Types.ImageGenerationRequest, more: CallOptions = {}) =>
        call<Types.Estimate>('POST', '/v1/images/generations/estimate', { ...more, isSafe: true, body }),
    },
    files: {
      /** Requests refer to the stored file as `asset://` followed by its id. */
      create: (file: Blob | { readonly url: string; readonly filename?: string }, more: CallOptions = {}) =>
        call<Types.File>('POST', files, { ...more, body: file instanceof Blob ? { file } : file }),
      get: (id: string, more: CallOptions = {}) => call<Types.File>('GET', `${files}/${segment(id)}`, more),
      list: (page: PageOptions = {}) => call<Types.FileList>('GET', `${files}${queryOf(page)}`, page),
      delete: async (id: string, more: CallOptions = {}): Promise<void> =>
        void (await call<unknown>('DELETE', `${files}/${segment(id)}`, { ...more, isSafe: true })),
    },
    models: (more: CallOptions = {}) =>
      call<{ readonly data: readonly Types.Model[] }>('GET', '/v1/models', more),
    balance: (more: CallOptions = {}) => call<Types.Balance>('GET', '/v1/balance', more),
  };
}

function tasksAt<Task extends Types.VideoTask | Types.ImageTask>(path: string, call: Call) {
  type Ended = Exclude<Task, Types.UnfinishedTask>;
  const isEnded = (task: Task): task is Ended => task.status === 'succeeded' || task.status === 'failed';
  /** Waits up to `seconds` (at most 30) for the status to change. */
  const get = (id: string, { seconds = 0, ...more }: CallOptions & { readonly seconds?: number } = {}) =>
    call<Task>('GET', `${path}/${segment(id)}?wait=${seconds}`, more);
  return {
    get,
    list: (page: PageOptions = {}) =>
      call<{ readonly data: readonly Task[]; readonly has_more: boolean; readonly last_id: string | null }>(
        'GET',
        `${path}${queryOf(page)}`,
        page,
      ),
    cancel: (id: string, more: CallOptions = {}) =>
      call<Task>('POST', `${path}/${segment(id)}/cancel`, { ...more, isSafe: true }),
    /** Resolves when the task has succeeded or failed. A failed task does not reject. */
    async wait(id: string, { onAnswer, ...more }: WaitOptions<Task> = {}): Promise<Ended> {
      for (;;) {
        const askedAt = Date.now();
        const task = await get(id, { ...more, seconds: waitSeconds });
        onAnswer?.(task);
        if (isEnded(task)) return task;
        // A gateway with many waiting requests responds immediately, so pause before the next request.
        await pause(pollMs - (Date.now() - askedAt), more.signal);
      }
    },
  };
}

const waitSeconds = 30;
const pollMs = 2_000;
const firstPauseMs = 500;
const pauseSecondsMax = 60;
const repeatable = new Set([408, 409, 429, 500, 502, 503, 504]);

interface Request extends CallOptions {
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isSafe?: boolean;
}

type Call = <Result>(method: 'GET' | 'POST' | 'DELETE', path: string, request?: Request) => Promise<Result>;

function createCall({ baseUrl, apiKey, retries = 3, fetch: send = globalThis.fetch }: ClientOptions): Call {
  const base = baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
  return async (method, path, { body, headers, signal, isSafe = method === 'GET' } = {}) => {
    const form = body === undefined ? undefined : formOf(body);
    const init: RequestInit = {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body === undefined || form !== undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: form ?? JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    };
    for (let repeats = isSafe ? retries : 0; ; repeats -= 1) {
      const answer = await sendOnce(`${base}${path}`, init, send).catch((error: unknown) => {
        if (repeats <= 0 || signal?.aborted === true) throw error;
        return undefined;
      });
      const seconds = secondsOf(answer?.headers.get('retry-after') ?? '0');
      const isFinal = repeats <= 0 || seconds > pauseSecondsMax;
      if (answer !== undefined && (isFinal || !mayRepeat(answer))) return resultOf(answer);
      await pause(Math.max(seconds * 1000, firstPauseMs * 2 ** (retries - repeats)), signal);
    }
  };
}

interface Answer extends Pick<Response, 'status' | 'ok' | 'headers'> {
  readonly text: string;
}

/** Also rejects if the connection breaks before the body is complete. */
async function sendOnce(url: string, init: RequestInit, send: typeof globalThis.fetch): Promise<Answer> {
  const answer = await send(url, init);
  const { status, ok, headers } = answer;
  return { status, ok, headers, text: await answer.text() };
}

function mayRepeat({ status, headers }: Answer): boolean {
  return repeatable.has(status) && headers.get('x-should-retry') !== 'false';
}

/** A proxy may send a date instead of a number. */
function secondsOf(retryAfter: string): number {
  const seconds = Number(retryAfter);
  return Number.isNaN(seconds) ? (Date.parse(retryAfter) - Date.now()) / 1000 || 0 : seconds;
}

function resultOf(answer: Answer) {
  try {
    if (answer.ok) return JSON.parse(answer.text || 'null');
  } catch {
    // The response comes from a proxy.
  }
  throw errorOf(answer);
}

function errorOf({ status, headers, text }: Answer): MediaryError {
  const requestId = headers.get('x-request-id') ?? '';
  try {
    const { error }: Types.Error = JSON.parse(text);
    return new MediaryError(status, requestId, error);
  } catch {
    return new MediaryError(status, requestId, undefined);
  }
}

/** Returns undefined for a body without files, which is sent as JSON instead. */
function formOf(body: object): FormData | undefined {
  const fields = Object.entries(body).flatMap(([name, value]: [string, unknown]): [string, unknown][] =>
    Array.isArray(value) ? value.map((item: unknown) => [`${name}[]`, item]) : [[name, value]],
  );
  if (!fields.some(([, value]) => value instanceof Blob)) return undefined;
  const form = new FormData();
  for (const [name, value] of fields) {
    if (value instanceof Blob) form.append(name, value);
    else if (value !== undefined && value !== null)
      form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return form;
}

function once({ idempotencyKey }: CreateOptions): Pick<Request, 'headers' | 'isSafe'> {
  const random = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16));
  return { headers: { 'idempotency-key': idempotencyKey ?? random().join('-') }, isSafe: true };
}

function segment(id: string): string {
  return encodeURIComponent(id);
}

function queryOf({ limit, after }: PageOptions): string {
  const words = {
    ...(limit === undefined ? {} : { limit: String(limit) }),
    ...(after === undefined ? {} : { after }),
  };
  return `?${new URLSearchParams(words).toString()}`;
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
