import { z } from 'zod';
import type { Places } from '../base/places.ts';
import { GatewayError, invalidParameter } from '../errors/errors.ts';
import { formatMicros } from '../money/money.ts';
import { dayMs, utcDay } from '../base/times.ts';
import { TooManyGroupsError } from '../money/usage.ts';
import { csvLine, csvMediaType, type Cell } from '../money/csv.ts';
import { formatDecimal } from '../money/decimal.ts';
import { madeWhileSent, type Reply } from './route.ts';

/** The longest period is a leap year. */
const daysMax = 366;

const day = z.string().refine(isDay, 'must be a day such as 2026-11-23').optional();

export const period = {
  from: day.meta({
    description: 'The first day, in UTC, such as `2026-11-01`. Defaults to the first day of this month.',
  }),
  to: day.meta({ description: 'The day after the last one. Defaults to tomorrow.' }),
  format: z.enum(['json', 'csv']).default('json'),
};

export function byOf<Name extends string>(allowed: readonly Name[], otherwise: Name) {
  const names: readonly string[] = allowed;
  const isKnown = (text: string): boolean => {
    const asked = namesIn(text);
    return new Set(asked).size === asked.length && asked.every((one) => names.includes(one));
  };
  return z
    .string()
    .default(otherwise)
    .refine(isKnown, `must be one or more of ${names.join(', ')}, separated by commas`)
    .meta({
      description: `One or more of ${names.join(', ')}, comma-separated. If empty, there is one row for everything.`,
    });
}

export function namesIn(text: string): string[] {
  return text === '' ? [] : text.split(',');
}

export const reportForms =
  'One row per group. A CSV has the same columns, with amounts as decimals and no text that a spreadsheet would read as a formula.';
export const reportMediaType: [string, ...string[]] = ['application/json', csvMediaType];

export function periodOf(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  now: number,
): { readonly from: string; readonly before: string } {
  const asked = { from: from ?? `${utcDay(now).slice(0, 8)}01`, before: to ?? utcDay(now + dayMs) };
  const days = (Date.parse(asked.before) - Date.parse(asked.from)) / dayMs;
  if (days >= 1 && days <= daysMax) return asked;
  throw invalidParameter('to', `The parameter to must be 1 to ${daysMax} days after from.`);
}

const retrySeconds = 2;

export function beginReport(reports: Places, holder: string): () => void {
  const place = reports.take(holder);
  if (typeof place !== 'string') return () => place.leave();
  throw new GatewayError(
    'concurrency_limit_exceeded',
    'Another report of this kind is being generated. Try again when it has finished.',
    {
      detail: reports.name,
      retryAfterSeconds: retrySeconds,
    },
  );
}

function isDay(text: string): boolean {
  const at = /^20\d\d-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(at) && utcDay(at) === text;
}

export interface Report {
  /** The JSON fields before `data`. A CSV contains only the rows. */
  readonly head: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  readonly rows: AsyncIterable<readonly Cell[]>;
}

/** Writes rows while they are being read. Calls `onEnd` once. Throws GatewayError if there are too many groups. */
export async function reportReply(
  report: Report,
  { format, onEnd }: { readonly format: 'json' | 'csv'; readonly onEnd: () => void },
): Promise<Reply> {
  const parts = gathered(format === 'csv' ? csvOf(report) : jsonOf(report));
  const begun = await begin(parts[Symbol.asyncIterator]()).catch((error: unknown) => {
    onEnd();
    if (!(error instanceof TooManyGroupsError)) throw error;
    throw invalidParameter('by', `There are more than ${error.max} groups. Group by day as well.`);
  });
  return madeWhileSent(begun.parts, {
    headers: { 'cache-control': 'no-store' },
    mediaType: format === 'csv' ? csvMediaType : 'application/json; charset=utf-8',
    onEnd: () => {
      onEnd();
      void begun.end();
    },
  });
}

/** Reads the first part ahead, so that an early failure becomes an error response. `end` may be called at any time. */
async function begin(parts: AsyncIterator<string, undefined>) {
  const first = await parts.next();
  async function* all(): AsyncIterable<string> {
    for (let part = first; part.done !== true; part = await parts.next()) yield part.value;
  }
  return { parts: all(), end: () => Promise.resolve(parts.return?.()).catch(() => undefined) };
}

async function* jsonOf({ head, columns, rows }: Report): AsyncIterable<string> {
  let separator = `${JSON.stringify(head).slice(0, -1)},"data":[`;
  for await (const cells of rows) {
    const row = columns.map((column, index) => [column, jsonValue(cells[index])] as const);
    yield separator + JSON.stringify(Object.fromEntries(row));
    separator = ',';
  }
  yield separator === ',' ? ']}' : `${separator}]}`;
}

function jsonValue(cell: Cell): string | number | null {
  if (typeof cell === 'object') return formatDecimal(cell);
  return typeof cell === 'bigint' ? formatMicros(cell) : (cell ?? null);
}

async function* csvOf({ columns, rows }: Report): AsyncIterable<string> {
  yield csvLine(columns);
  for await (const cells of rows) yield csvLine(cells);
}

const partCharacters = 16 * 1024;

/** Combines short texts, because every part costs a separate write. */
async function* gathered(texts: AsyncIterable<string>): AsyncGenerator<string, undefined> {
  let part = '';
  for await (const text of texts) {
    part += text;
    if (part.length < partCharacters) continue;
    yield part;
    part = '';
  }
  if (part !== '') yield part;
  return undefined;
}
