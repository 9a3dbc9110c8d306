import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';
import { z } from 'zod';
import type { Billed } from '../money/bill.ts';
import { defined } from '../base/defined.ts';
import { formatDecimal, parseDecimal, shifted } from '../money/decimal.ts';
import type { BillColumns, BillFormat } from '../providers/provider.ts';
import { BillError } from './bill-error.ts';

export type BillLine = Billed | 'skipped';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const lineBytesMax = 1024 * 1024;
const jobCharactersMax = 300;
/** An error lists at most this many columns, and quotes at most this many characters of a text. */
const shownMax = 40;

export interface BillFile {
  readonly name: string;
  readonly bytes: () => AsyncIterable<Buffer>;
}

export function billAt(path: string): BillFile {
  return { name: path, bytes: () => createReadStream(path) };
}

export async function* readBill(bill: BillFile, format: BillFormat): AsyncGenerator<BillLine> {
  const file = bill.name;
  let read: ReturnType<typeof lineReader> | undefined;
  for await (const { fields, line } of readRecords(bill)) {
    if (read === undefined) read = lineReader(fields, format, file);
    else yield read(fields, line);
  }
  if (read === undefined)
    throw new BillError(`${file} is empty. A bill needs a header and at least one line.`);
}

/** Unix seconds. `from` is inclusive, `to` exclusive. If one of them is undefined, the period is open on that side. */
export interface Span {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export function linesWithin(lines: AsyncIterable<BillLine>, { from, to }: Span) {
  const counts = { lines: 0, skipped: 0, outside: 0 };
  async function* within(): AsyncGenerator<Billed> {
    for await (const line of lines) {
      counts.lines += 1;
      if (line === 'skipped') counts.skipped += 1;
      else if (line.at < (from ?? 0) * 1000 || line.at >= (to ?? Infinity) * 1000) counts.outside += 1;
      else yield line;
    }
    const isEmpty = counts.lines === counts.skipped + counts.outside;
    if (isEmpty && (from === undefined || to === undefined))
      throw new BillError(
        'The bill has no lines to compare. Specify the first and the last day to list our jobs from that time.',
      );
  }
  return { within: within(), counts };
}

/** `info.lines` counts the lines up to the end of the record. */
const recordSchema = z.object({ record: z.array(z.string()), info: z.object({ lines: z.int() }) });

async function* readRecords({ name: file, bytes }: BillFile) {
  const parser = parse({ bom: true, info: true, skip_empty_lines: true, max_record_size: lineBytesMax });
  const failed = pipeline(bytes(), utf8Text, parser).then(
    () => undefined,
    (error: unknown) => error,
  );
  try {
    for await (const found of parser) {
      const { record, info } = recordSchema.parse(found);
      yield { fields: record, line: info.lines };
    }
  } catch (error) {
    throw readError(file, (await failed) ?? error);
  }
}

class NotUtf8Error extends Error {}

async function* utf8Text(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let line = 1;
  for await (const chunk of chunks) {
    try {
      const text = decoder.decode(chunk, { stream: true });
      line += text.split('\n').length - 1;
      yield text;
    } catch (cause) {
      const [good = ''] = chunk.toString('utf8').split('\uFFFD');
      throw new NotUtf8Error(`in line ${line + good.split('\n').length - 1}`, { cause });
    }
  }
}

function readError(file: string, error: unknown): BillError {
  const refuse = (words: string) => new BillError(`${file} ${words}`, { cause: error });
  if (error instanceof NotUtf8Error) return refuse(`is not UTF-8 ${error.message}: save it as CSV in UTF-8.`);
  if (error instanceof CsvError) return refuse(`is not valid CSV: ${error.message}.`);
  if (error instanceof Error && 'code' in error) return refuse(`cannot be read: ${error.message}.`);
  throw error;
}

function lineReader(header: readonly string[], format: BillFormat, file: string) {
  const { columns, unit: fixedUnit, places = 0, utcOffsetHours = 0 } = format;
  const at = columnsOf(header, columns, file);

  return (fields: readonly string[], line: number): BillLine => {
    const field = (name: keyof BillColumns) =>
      at[name] === undefined ? '' : (fields[at[name]] ?? '').trim();
    const wrong = (name: keyof BillColumns, wanted: string) =>
      new BillError(
        `${file}, line ${line}: ${columns[name] ?? name} is ${JSON.stringify(field(name).slice(0, shownMax))}, not ${wanted}.`,
      );
    if (field('amount') === '') return 'skipped';
    const amount = parseDecimal(field('amount'));
    if (amount === undefined) throw wrong('amount', 'a number such as 0.35');
    const time = readTime(field('at'), utcOffsetHours);
    if (time === undefined) throw wrong('at', 'a time such as 2026-11-22T14:00:00Z or a day');
    if (field('job').length > jobCharactersMax)
      throw wrong('job', `an id of at most ${jobCharactersMax} characters`);
    const unit = unitOf(field('unit')) ?? fixedUnit;
    if (unit === undefined) throw wrong('unit', 'a currency or a unit');
    const model = field('model') === '' ? undefined : field('model');
    const sum = formatDecimal(shifted(places, amount));
    return { job: field('job'), unit, amount: sum, lines: 1, ...time, ...defined({ model }) };
  };
}

type Places = Partial<Record<keyof BillColumns, number>>;

function columnsOf(header: readonly string[], columns: BillColumns, file: string): Places {
  const names = header.map((name) => name.trim());
  const placeOf = (field: keyof BillColumns): number | undefined => {
    const name = columns[field];
    if (name === undefined) return undefined;
    const place = names.indexOf(name);
    if (place >= 0 && names.lastIndexOf(name) === place) return place;
    const found = names.slice(0, shownMax).map((one) => one.slice(0, shownMax));
    const wrong =
      place < 0
        ? `there is no column ${name} (${field}). Its columns are ${found.join(', ')}.`
        : `there is more than one column ${name}.`;
    throw new BillError(`${file}, line 1: ${wrong}`);
  };
  // Jobs are matched by id, so a bill that lists jobs needs no models.
  const needsModel = columns.job === undefined || names.includes(columns.model ?? '');
  return defined({
    job: placeOf('job'),
    amount: placeOf('amount'),
    at: placeOf('at'),
    model: needsModel ? placeOf('model') : undefined,
    unit: placeOf('unit'),
  });
}

/** Writes currency codes in upper case, so that `usd` and `USD` are the same unit. */
function unitOf(text: string): string | undefined {
  if (text === '') return undefined;
  return /^[a-z]{3}$/i.test(text) ? text.toUpperCase() : text;
}

const dayPattern = /^\d{4}-\d\d-\d\d$/;
const timePattern = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?) ?(Z|UTC|[+-]\d\d:?\d\d)?$/i;

/** Accepts Unix seconds, Unix milliseconds, a day, or an ISO 8601 time. */
export function readTime(text: string, utcOffsetHours: number): Pick<Billed, 'at' | 'spanMs'> | undefined {
  if (/^\d{10}$/.test(text)) return { at: Number(text) * 1000, spanMs: 0 };
  if (/^\d{13}$/.test(text)) return { at: Number(text), spanMs: 0 };
  if (dayPattern.test(text)) return timeAt(`${text}T00:00:00Z`, utcOffsetHours, dayMs);
  const [, day, clock, zone] = timePattern.exec(text) ?? [];
  if (day === undefined || clock === undefined) return undefined;
  if (zone === undefined) return timeAt(`${day}T${clock}Z`, utcOffsetHours, 0);
  const isUtc = /^(?:Z|UTC)$/i.test(zone);
  return timeAt(`${day}T${clock}${isUtc ? 'Z' : zone.replace(/(\d\d):?(\d\d)$/, '$1:$2')}`, 0, 0);
}

function timeAt(iso: string, utcOffsetHours: number, spanMs: number) {
  const at = Date.parse(iso);
  return Number.isNaN(at) ? undefined : { at: at - utcOffsetHours * hourMs, spanMs };
}
