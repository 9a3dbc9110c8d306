import stringWidth from 'string-width';
import { escaped } from '../base/plain-text.ts';
import type { Row } from './admin-client.ts';
import { formatCell, formatTable, missing } from './table.ts';
import type { TableStyle } from './table.ts';

/** What a verb says: text for people, or exactly what the gateway answered as JSON. */
export interface Output {
  readonly isJson: boolean;
  rows(rows: readonly Row[], table: Table): void;
  /** One object, one field per line. `shown`: what people see of it. */
  item(item: Row, shown?: Row): void;
  /** For people only the field of this name, one line for each of its own; otherwise all of it. */
  answer(item: Row, field: string): void;
  /** A summary in words; as JSON the object. */
  result(item: Row, text: string): void;
  /** For people only. */
  note(text: string): void;
}

export interface Table {
  readonly columns: readonly string[];
  /** Those that only the wide form has. */
  readonly more?: readonly string[];
  /** What people see of a row; default: all of it. */
  readonly shown?: (row: Row) => Row;
}

export interface OutputOptions {
  readonly form: OutputForm;
  readonly write: (text: string) => void;
  readonly isColoured: boolean;
  /** Unix milliseconds. */
  readonly now: number;
}

/** `table` fits into 100 columns and says how long ago; `wide` cuts nothing. `jsonl`: an object a line. */
export type OutputForm = 'table' | 'wide' | 'json' | 'jsonl';

const tableWidthMax = 100;
const cellWidthMax = 60;
const indent = '  ';

/** What comes from elsewhere never reaches the terminal as it is: every text goes through here. */
export function createOutput({ form, write, isColoured, now }: OutputOptions): Output {
  const print = (text: string) => write(escaped(text, { keepLines: true }));
  if (form === 'json' || form === 'jsonl') {
    const item = (value: unknown) => print(JSON.stringify(value, null, form === 'json' ? 2 : undefined));
    return {
      isJson: true,
      rows: (rows) => (form === 'json' ? item(rows) : rows.forEach(item)),
      item,
      answer: item,
      result: item,
      note: () => undefined,
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
  };
}

function formatItem(item: Row, style: TableStyle): string {
  const entries = Object.entries(item)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({ name: escaped(name, { keepLines: false }), value }));
  const width = Math.max(...entries.map(({ name }) => name.length));
  return entries.map(({ name, value }) => formatField(name.padEnd(width), value, style)).join('\n');
}

/** An object becomes lines of its own below its name, a list of objects a table. */
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

/** A table, without columns that have nothing in any row; what does not fit even when it is cut becomes an item for each row. */
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
