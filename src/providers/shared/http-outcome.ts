import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { failureOfRow, findFailureRow, knownWords } from './failure-table.ts';
import { failureOfOutcome, type Failure } from '../../errors/failure.ts';
import type { FailureRow, FailureTable, Refusal } from './failure-table.ts';
import { UpstreamError, type HttpResponse, type ProviderContext, type UpstreamOutcome } from '../provider.ts';

/**
 * An upstream that explains its rejection in its own format has read the request and not accepted it. An edge proxy's
 * error page does not reveal what happened behind the proxy. A 5xx is judged by its status alone, because the job may
 * exist, unless the table is certain about its code.
 */
export function refusalError(
  answer: HttpResponse,
  refusal: Refusal | undefined,
  table: FailureTable = [],
): UpstreamError {
  const { status } = answer;
  const row = refusal === undefined ? undefined : findFailureRow(table, refusal, status);
  const outcome =
    (status < 500 || row?.certain === true ? row?.outcome : undefined) ??
    outcomeOfStatus(status, refusal !== undefined || isExplanation(answer));
  const said = refusal ?? { code: '', message: `The upstream responded with status ${status}.` };
  const { code, message } = knownWords(table, said, `http_${status}`);
  return new UpstreamError(outcome, message, {
    code,
    status,
    ...defined({
      retryAfterMs: retryAfterMs(answer.headers) ?? atMostADay(refusal?.retryAfterMs),
      failure: refusal === undefined ? undefined : failureOf(outcome, refusal, row),
      cost: refusal?.cost,
    }),
  });
}

/**
 * True if one of these statuses comes with a JSON object, which shows that the upstream itself read and judged the
 * request.
 */
function isExplanation({ status, json }: HttpResponse): boolean {
  return (
    [400, 413, 422].includes(status) && typeof json === 'object' && json !== null && !Array.isArray(json)
  );
}

function failureOf(outcome: UpstreamOutcome, refusal: Refusal, row: FailureRow | undefined): Failure {
  return failureOfRow(row ?? failureOfOutcome(outcome), refusal);
}

function outcomeOfStatus(status: number, explained: boolean): UpstreamOutcome {
  if (status === 429) return 'throttled';
  // Some vendors use 529 for "overloaded".
  if (status === 503 || status === 529) return explained ? 'throttled' : 'ambiguous';
  if (status === 401 || status === 402 || status === 403) return 'unavailable';
  if (status === 408 || status === 499 || status >= 500 || status < 300) return 'ambiguous';
  // A redirect or an unexplained 4xx points to a wrong URL or a proxy rather than a problem with our request.
  if (status < 400 || (!explained && status !== 413)) return 'unavailable';
  return 'rejected';
}

/**
 * Returns the error for a successful response without usable content. The outcome is ambiguous, because the job may
 * exist.
 */
export function unreadableError(answer: HttpResponse, missing: string): UpstreamError {
  return new UpstreamError('ambiguous', `The upstream's response could not be read: ${missing}.`, {
    code: 'unreadable_answer',
    status: answer.status,
  });
}

export function isSuccess({ status }: HttpResponse): boolean {
  return status >= 200 && status < 300;
}

export function bearer({ credential }: Pick<ProviderContext, 'credential'>): { authorization: string } {
  return { authorization: `Bearer ${credential.apiKey}` };
}

/** Use this only if the upstream reports the job as unknown in its own format. A proxy's error page is not enough. */
export function unknownJob(
  status: number | undefined,
  {
    code = 'unknown_job',
    message = 'The upstream does not know the job.',
  }: Partial<Pick<Refusal, 'code' | 'message'>> = {},
): UpstreamError {
  return new UpstreamError('rejected', message, { ...defined({ status }), code, gone: true });
}

const retryAfterMaxMs = 24 * 3600 * 1000;

function atMostADay(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.min(Math.ceil(ms), retryAfterMaxMs);
}

/** Reads `retry-after-ms`, or `retry-after` in seconds or as an HTTP date (relative to the server's own clock). */
function retryAfterMs(headers: HttpResponse['headers']): number | undefined {
  const precise = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (precise >= 0) return atMostADay(precise);
  const text = headers['retry-after']?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return atMostADay(Number(text) * 1000);
  // Check the pattern first, because Date.parse would find a year in "-5" and "soon 7".
  const at = /^[A-Za-z]{3,9},? .*\d\d:\d\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) return undefined;
  const serverNow = Date.parse(headers['date'] ?? '');
  const now = Number.isNaN(serverNow) ? Date.now() : serverNow;
  return atMostADay(Math.max(0, at - now));
}

/**
 * Returns Unix seconds, if the link's query contains its expiry: `X-…-Date` with `X-…-Expires` (seconds), `Expires`
 * (Unix seconds), or `se` (a date).
 */
export function signedUrlExpiry(url: string): number | undefined {
  if (!URL.canParse(url)) return undefined;
  let signedAt: number | undefined;
  let lifetime: number | undefined;
  for (const [name, value] of new URL(url).searchParams) {
    if (/^expires$/i.test(name) && /^\d{9,11}$/.test(value)) return Number(value);
    if (name === 'se' && /^\d{4}-\d{2}-\d{2}/.test(value)) {
      const at = Date.parse(value);
      if (!Number.isNaN(at)) return Math.floor(at / 1000);
    }
    if (/^x-[a-z]+-date$/i.test(name)) signedAt = parseCompactDate(value);
    if (/^x-[a-z]+-expires$/i.test(name) && /^\d{1,8}$/.test(value)) lifetime = Number(value);
  }
  return signedAt === undefined || lifetime === undefined ? undefined : signedAt + lifetime;
}

/** Returns Unix seconds: the end of the link's lifetime, counted from the server's own clock. */
export function expiryAfter(
  { headers }: Pick<HttpResponse, 'headers'>,
  lifetimeSeconds: number,
): number | undefined {
  const at = Date.parse(headers['date'] ?? '');
  return Number.isNaN(at) ? undefined : at / 1000 + lifetimeSeconds;
}

function parseCompactDate(text: string): number | undefined {
  const match = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? undefined : at / 1000;
}

export function readableItems<Item>(item: z.ZodType<Item>) {
  return z.array(z.unknown()).transform((items) =>
    items.flatMap((each): Item[] => {
      const read = item.safeParse(each);
      return read.success ? [read.data] : [];
    }),
  );
}

/** The last second of JavaScript dates. A larger number is neither a time (in seconds or milliseconds) nor a count. */
const numberMax = 8.64e12;

/** These schemas are lenient: a response field with an unexpected type or an impossible value is treated as missing. */
export const optionalText = z.string().min(1).optional().catch(undefined);
const number = z.number().nonnegative().max(numberMax);
export const optionalNumber = number.optional().catch(undefined);
/** Accepts numbers, including those that some upstreams send as strings. */
export const optionalNumeric = z
  .union([
    number,
    z
      .string()
      .regex(/^\d+(\.\d+)?$/)
      .transform(Number)
      .pipe(number),
  ])
  .optional()
  .catch(undefined);
/**
 * A charge may depend on this number, so typed-answers.ts rejects implausible ones. Some upstreams send it as a string.
 */
export const reportedNumber = z
  .union([
    z.custom<number>((value) => typeof value === 'number'),
    z
      .string()
      .regex(/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i)
      .transform(Number),
  ])
  .optional()
  .catch(undefined);
