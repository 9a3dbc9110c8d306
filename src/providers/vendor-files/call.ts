import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { patternMatcher, wordsMatcher, type VendorFile } from '../../models/vendor-file.ts';
import type { FailureTable, Refusal } from '../shared/failure-table.ts';
import type { OutgoingJson, OutgoingObject } from '../shared/file-data-url.ts';
import {
  isSuccess,
  optionalNumber,
  optionalText,
  refusalError,
  unknownJob,
  unreadableError,
} from '../shared/http-outcome.ts';
import { UpstreamError } from '../provider.ts';
import type { HttpRequestOptions, HttpResponse, Operation, ProviderContext } from '../provider.ts';
import { credentialsOf } from './authentication.ts';
import { codeCharactersMax, errorIn } from './answers.ts';
import { ExpressionError, ExpressionLimitError, type Bindings, type Evaluator } from './expressions.ts';
import { hasFiles, markLargeTexts, type MediaMarks } from './media-marks.ts';

export interface Calling {
  readonly file: VendorFile;
  readonly failures: FailureTable;
  readonly expressions: Evaluator;
  readonly now: () => number;
}

export interface FileRequest extends Pick<HttpRequestOptions, 'method' | 'bodyBytesMax' | 'largeStrings'> {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: OutgoingObject;
  readonly form?: FormData;
  /** Set if the request is about a job, which the vendor may then report as unknown. */
  readonly asksForJob?: true;
}

export function failureTableOf({ failures }: VendorFile): FailureTable {
  return failures.flatMap(({ code = [undefined], words, ...row }) =>
    code.map((one) =>
      defined({
        ...row,
        code: one === undefined ? undefined : patternMatcher(one),
        words: words === undefined ? undefined : wordsMatcher(words),
      }),
    ),
  );
}

export async function callVendor(
  request: FileRequest,
  context: ProviderContext,
  calling: Calling,
): Promise<HttpResponse> {
  const { method, json, form, bodyBytesMax, largeStrings } = request;
  const { url, headers } = addressed(request, context, calling);
  const sent = defined({ json, form, bodyBytesMax, largeStrings });
  const answer = await context.request({ method, url, headers, ...sent, signal: context.signal });
  if (isSuccess(answer)) return answer;
  const refusal = await readRefusal(answer, calling);
  if (request.asksForJob === true && refusal !== undefined && isUnknown(answer, refusal, calling.file))
    throw unknownJob(answer.status, { message: refusal.message });
  throw refusalError(answer, refusal, calling.failures);
}

function addressed(
  { method, path, query = {}, headers = {}, json, form }: FileRequest,
  context: ProviderContext,
  { file, now }: Calling,
): { readonly url: string; readonly headers: Readonly<Record<string, string>> } {
  const url = addressBelow(context.baseUrl, path);
  if (url === undefined) throw notSayable('its path leaves the base URL');
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const isSigned = 'hmac' in file.authentication;
  if (isSigned && (form !== undefined || hasFiles(json)))
    throw notSayable('a body with a file cannot be signed');
  const unsigned = { method, url, body: isSigned && json !== undefined ? JSON.stringify(json) : undefined };
  const credentials = credentialsOf(file.authentication, { unsigned, context, now: now() });
  for (const [name, value] of Object.entries(credentials.query)) url.searchParams.set(name, value);
  return { url: url.href, headers: { ...headers, ...credentials.headers } };
}

export function addressBelow(baseUrl: string, path: string): URL | undefined {
  const url = new URL(baseUrl + path);
  return url.href.startsWith(`${new URL(baseUrl).href.replace(/\/$/, '')}/`) ? url : undefined;
}

/** The vendor file cannot express the request, so nothing has been sent. Other requests are unaffected. */
function notSayable(why: string): UpstreamError {
  return new UpstreamError('rejected', `The vendor file cannot express this request: ${why}.`, {
    code: 'vendor_file',
    failure: { class: 'internal' },
  });
}

function notBuilt(): UpstreamError {
  return new UpstreamError(
    'not_sent',
    'The request could not be built within the time and memory limits for vendor files.',
    {
      code: 'vendor_file_limit',
    },
  );
}

const refusalSchema = z.object({
  code: z
    .union([z.string(), z.number().transform(String)])
    .transform((code) => code.slice(0, codeCharactersMax))
    .catch(''),
  message: z.string().catch(''),
  field: optionalText,
  retry_after_ms: optionalNumber,
});

function refusalOf(value: unknown): Refusal | undefined {
  const said = refusalSchema.safeParse(value).data;
  if (said === undefined || (said.code === '' && said.message === '')) return undefined;
  const { code, message, field, retry_after_ms: retryAfterMs } = said;
  return defined({ code, message, field, retryAfterMs });
}

const plainTextMax = 2_000;

async function readRefusal(
  { status, headers, json, text }: HttpResponse,
  { expressions, file }: Calling,
): Promise<Refusal | undefined> {
  const isPlain = json === undefined && headers['content-type']?.startsWith('text/plain') === true;
  if (json === undefined && !isPlain) return undefined;
  const bindings = { status, headers, ...(isPlain ? { text: text.slice(0, plainTextMax) } : {}) };
  try {
    return refusalOf(await expressions.evaluate(file.error, markLargeTexts(json).value, bindings));
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

function isUnknown(
  { status }: HttpResponse,
  { code }: Refusal,
  { unknown_job: unknown }: VendorFile,
): boolean {
  if (status !== unknown.status) return false;
  return unknown.codes === undefined || unknown.codes.some((one) => patternMatcher(one).test(code));
}

export async function readAnswer(
  answer: HttpResponse,
  { source, bindings }: { readonly source: string; readonly bindings: Bindings },
  { expressions }: Pick<Calling, 'expressions'>,
): Promise<unknown> {
  const { status, headers, json } = answer;
  if (json === undefined) throw unreadableError(answer, 'it is not JSON');
  const evaluate = () =>
    expressions.evaluate(source, markLargeTexts(json).value, { status, headers, ...bindings });
  try {
    // A job may already have been paid for, so its response must not be lost because the machine is busy. Evaluate the
    // expression once more.
    return await evaluate().catch((error: unknown) => {
      if (error instanceof ExpressionLimitError) return evaluate();
      throw error;
    });
  } catch (error) {
    if (error instanceof ExpressionError) throw unreadableError(answer, 'the vendor file cannot read it');
    throw error;
  }
}

export function throwErrorIn(
  read: unknown,
  answer: HttpResponse,
  { failures }: Pick<Calling, 'failures'>,
): void {
  const refusal = refusalOf(errorIn(read));
  if (refusal !== undefined) throw refusalError(answer, refusal, failures);
}

export function filledPath(path: string, parts: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
    if (part === undefined || /^\.{0,2}$/.test(part)) throw notSayable(`there is no ${name} for its path`);
    return encodeURIComponent(part);
  });
}

export function partsOf(operation: Operation, { model }: ProviderContext): Readonly<Record<string, string>> {
  return { model, ...operation };
}

const ownHeaders = new Set([
  'accept-encoding', 'authorization', 'connection', 'content-length', 'content-type', 'cookie', 'expect', 'host',
  'transfer-encoding', 'upgrade',
]); // prettier-ignore

const scalar = z.union([z.string(), z.number().transform(String), z.boolean().transform(String)]);
const builtSchema = z.strictObject({
  path: z
    .string()
    .max(2_000)
    .regex(/^\/(?!\/)[\x21-\x7e]*$/),
  query: z.record(z.string(), scalar).default({}),
  headers: z
    .record(
      z
        .string()
        .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/)
        .refine((name) => !ownHeaders.has(name.toLowerCase())),
      z.string().regex(/^[\x20-\x7e]{0,1000}$/),
    )
    .default({}),
  json: z.record(z.string(), z.unknown()).optional(),
  form: z.record(z.string(), z.unknown()).optional(),
});

export async function buildRequest(
  { source, view, bindings }: { readonly source: string; readonly view: object; readonly bindings: Bindings },
  marks: MediaMarks,
  { expressions }: Calling,
): Promise<Omit<FileRequest, 'method'>> {
  const built = builtSchema.safeParse(await evaluated(expressions, source, { view, bindings }));
  if (!built.success) {
    const [issue] = built.error.issues;
    throw notSayable(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'it is not a request'}`);
  }
  const { path, query, headers, json, form } = built.data;
  const body = json === undefined ? undefined : marks.unmarked(json);
  return defined({
    path,
    query,
    headers,
    json: isObject(body) ? body : undefined,
    form: form === undefined ? undefined : await formOf(form, marks),
  });
}

async function evaluated(
  expressions: Evaluator,
  source: string,
  { view, bindings }: { readonly view: object; readonly bindings: Bindings },
): Promise<unknown> {
  try {
    return await expressions.evaluate(source, view, bindings);
  } catch (error) {
    if (error instanceof ExpressionLimitError) throw notBuilt();
    if (error instanceof ExpressionError) throw notSayable('its expression fails');
    throw error;
  }
}

function isObject(value: OutgoingJson | undefined): value is OutgoingObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function formOf(fields: Readonly<Record<string, unknown>>, marks: MediaMarks): Promise<FormData> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const each of values) {
      // oxlint-disable-next-line no-await-in-loop -- parts keep their order
      const part = typeof each === 'string' ? await marks.part(each) : undefined;
      if (part === undefined) form.append(name, textOf(marks.unmarked(each)));
      else form.append(name, part.blob, part.name);
    }
  }
  return form;
}

function textOf(value: OutgoingJson): string {
  if (hasFiles(value)) throw notSayable('in a form, each file must be a part of its own');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
