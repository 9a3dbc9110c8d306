import stringWidth from 'string-width';
import { escaped } from '../base/plain-text.ts';
import type { Row } from './admin-client.ts';
import { formatCell, formatTable, missing, type TableStyle } from './table.ts';

export interface Output {
  readonly isJson: boolean;
  rows(rows: readonly Row[], table: Table): void;
  /** Prints one object. Text output has one field per line, and prints `shown` instead of `item` if given. */
  item(item: Row, shown?: Row): void;
  /** Prints one object. Text output contains only the field `field`, with one line per member. */
  answer(item: Row, field: string): void;
  result(item: Row, text: string): void;
  note(text: string): void;
  /** Unlike `note`, JSON output has this too, on standard error, so that a script does not mistake a page for the list. */
  more(options: string): void;
}

export interface Table {
  readonly columns: readonly string[];
  readonly more?: readonly string[];
  readonly shown?: (row: Row) => Row;
}

export interface OutputOptions {
  readonly form: OutputForm;
  readonly write: (text: string) => void;
  readonly warn: (text: string) => void;
  readonly isColoured: boolean;
  readonly now: number;
}

/**
 * `table` fits in 100 columns and shows ages instead of times. `wide` truncates nothing. `jsonl` prints one object
 * per line.
 */
export type OutputForm = 'table' | 'wide' | 'json' | 'jsonl';

const tableWidthMax = 100;
const cellWidthMax = 60;
const indent = '  ';

/** Print everything through this object, because it escapes external text for the terminal. */
export function createOutput({ form, write, warn, isColoured, now }: OutputOptions): Output {
  const print = (text: string) => write(escaped(text, { keepLines: true }));
  const moreWords = (options: string) => escaped(`More results: ${options}`, { keepLines: false });
  if (form === 'json' || form === 'jsonl') {
    const item = (value: unknown) => print(JSON.stringify(value, null, form === 'json' ? 2 : undefined));
    return {
      isJson: true,
      rows: (rows) => (form === 'json' ? item(rows) : rows.forEach(item)),
      item,
      answer: item,
      result: item,
      note: () => undefined,
      more: (options) => warn(moreWords(options)),
    };
  }
  const style = form === 'wide' ? { isColoured } : { isColoured, now, widthMax: tableWidthMax };
  const nested =
    form === 'wide'
      ? { isColoured }
      : { isColoured, cellWidthMax, widthMax: tableWidthMax, cutsTextsOnly: true };
  return {
    isJson: false,
    rows(rows, { columns, more = [], shown = (row) => row }) {
      if (rows.length === 0) return print('None.');
      const names = form === 'wide' ? [...columns, ...more] : columns;
      return write(formatTable(rows.map(shown), names, style));
    },
    item: (item, shown = item) => write(formatItem(shown, nested)),
    answer: (item, field) => {
      const part = item[field];
      write(formatItem(isRow(part) ? part : item, nested));
    },
    result: (_item, text) => print(text),
    note: print,
    more: (options) => write(moreWords(options)),
  };
}

function formatItem(item: Row, style: TableStyle): string {
  const entries = Object.entries(item)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({ name: escaped(name, { keepLines: false }), value }));
  const width = Math.max(...entries.map(({ name }) => name.length));
  return entries.map(({ name, value }) => formatField(name.padEnd(width), value, style)).join('\n');
}

function formatField(padded: string, value: unknown, style: TableStyle): string {
  const below = (format: (inner: TableStyle) => string): string => {
    const { widthMax = Number.POSITIVE_INFINITY } = style;
    const text = format({ ...style, widthMax: widthMax - indent.length });
    return `${padded.trimEnd()}\n${text.replaceAll(/^(?=.)/gm, indent)}`;
  };
  if (isRow(value) && Object.keys(value).length > 0) return below((inner) => formatItem(value, inner));
  const rows = Array.isArray(value) ? value.filter(isRow) : [];
  if (rows.length > 0) return below((inner) => formatNested(rows, inner));
  return `${padded}  ${formatCell(padded.trimEnd(), value)}`;
}

function formatNested(rows: readonly Row[], style: TableStyle): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns = names.filter((name) => rows.some((row) => formatCell(name, row[name]) !== missing));
  const table = formatTable(rows, columns, style);
  const { widthMax = Number.POSITIVE_INFINITY } = style;
  if (table.split('\n').every((line) => stringWidth(line) <= widthMax)) return table;
  return rows.map((row) => formatItem(row, style)).join('\n\n');
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
