import { keyScopes } from '../../src/base/key-scope.ts';
import { randomBytes, randomUUID } from 'node:crypto';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { planOutdated } from '../../src/operating/acts.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: ReturnType<typeof JSON.parse>;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string;
}

export type Call = (method: string, path: string, options?: CallOptions) => Promise<Answer>;

export type AdminCall = (method: string, path: string, body?: unknown) => Promise<Answer>;

export interface AccountOptions {
  readonly id?: string;
  readonly credit?: string;
  readonly key?: Readonly<Record<string, unknown>>;
}

export interface TestAccount {
  readonly id: string;
  readonly key: string;
  readonly keyId: string;
  readonly webhookSecret: string;
  readonly call: Call;
  balance(): Promise<{ available: string; held: string }>;
  create(body?: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer>;
  /**
   * Creates a task and resolves to its id. While the gateway is busy, repeats the request with the same idempotency
   * key.
   */
  made(body?: Record<string, unknown>): Promise<string>;
  finished(id: string, deadlineMs?: number): Promise<Record<string, any>>;
}

export function caller(url: string, key?: string): Call {
  return (method, path, options = {}) =>
    send(url, method, path, key === undefined ? options : { key, ...options });
}

/** Repeats a call while the gateway is too busy for it (503 or 408). Creates need an idempotency key. */
export async function persevere(call: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await call();
    if (answer.status !== 503 && answer.status !== 408) return answer;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

export function underOneKey(create: (key: Record<string, string>) => Promise<Answer>): Promise<Answer> {
  const key = { 'idempotency-key': randomUUID() };
  return persevere(() => create(key));
}

export function createOnce(call: Call, path: string, body: unknown): Promise<Answer> {
  return underOneKey((headers) => call('POST', path, { body, headers }));
}

export function adminCaller(url: string, token: string): AdminCall {
  return (method, path, body) =>
    send(url, method, path.startsWith('/admin') ? path : `/admin/v1${path}`, { body, key: token });
}

/** Does what operators do: a dry run, then the action with its plan. Starts over if the task changes in between. */
export async function actOn(
  admin: AdminCall,
  task: string,
  act: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  const path = `/tasks/${task}/actions`;
  for (;;) {
    const tried = await admin('POST', path, { ...act, dry_run: true });
    if (tried.status !== 200) return tried;
    const done = await admin('POST', path, { ...act, plan: tried.body.result.plan });
    if (!String(done.body.error?.message).startsWith(planOutdated)) return done;
  }
}

export async function makeAccount(
  { url, admin, video }: { readonly url: string; readonly admin: AdminCall; readonly video: object },
  { id = `acc-${randomBytes(5).toString('hex')}`, credit = '100', key = {} }: AccountOptions = {},
): Promise<TestAccount> {
  const account = await admin('POST', '/accounts', { id, name: id });
  if (account.status >= 300) throw new Error(account.text);
  if (credit !== '0') await admin('POST', `/accounts/${id}/credits`, { amount: credit, reference: 'first' });
  const made = await admin('POST', '/keys', { account: id, name: 'test', scopes: keyScopes, ...key });
  if (made.status >= 300) throw new Error(made.text);
  const call = caller(url, made.body.key);
  let refusal = 'none was created';
  const create: TestAccount['create'] = async (body = {}, headers = {}) => {
    const answer = await call('POST', '/v1/videos/generations', { headers, body: { ...video, ...body } });
    if (answer.status >= 300) refusal = answer.text;
    return answer;
  };
  return {
    id,
    key: made.body.key,
    keyId: made.body.id,
    webhookSecret: account.body.webhook_secret,
    call,
    balance: async () => (await call('GET', '/v1/balance')).body,
    create,
    async made(body) {
      const answer = await underOneKey((key) => create(body, key));
      if (answer.status >= 300) throw new Error(answer.text);
      return answer.body.id;
    },
    finished(task, deadlineMs = 240_000) {
      if (task === undefined) throw new Error(`there is no task to wait for: ${refusal}`);
      return untilFinished(call, task, deadlineMs);
    },
  };
}

async function untilFinished(call: Call, id: string, deadlineMs: number): Promise<Record<string, any>> {
  const endsAt = Date.now() + deadlineMs;
  for (;;) {
    const { body } = await call('GET', `/v1/videos/generations/${id}?wait=5`);
    if (body.status === 'succeeded' || body.status === 'failed') return body;
    if (Date.now() > endsAt) throw new Error(`task ${id} is still ${JSON.stringify(body)}`);
  }
}

export interface FormOptions {
  readonly form: FormData;
  readonly key: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function postForm(
  url: string,
  path: string,
  { form, key, headers = {} }: FormOptions,
): Promise<Answer> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: form,
  });
  const text = await response.text();
  return { status: response.status, headers: Object.fromEntries(response.headers), text, body: parse(text) };
}

/** Uses node:http, because fetch hides headers for connections and encodings. */
export function send(
  url: string,
  method: string,
  path: string,
  { body, headers = {}, key }: CallOptions = {},
): Promise<Answer> {
  const payload =
    body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${url}${path}`,
      {
        method,
        agent: false,
        headers: {
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(payload === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: parse(text) });
        });
      },
    );
    request.on('error', reject);
    request.end(payload);
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
