import { escaped } from '../domain/plain-text.ts';
import type { Row } from './admin-client.ts';
import { formatCell, formatTable } from './table.ts';

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
  return {
    isJson: false,
    rows(rows, { columns, more = [], shown = (row) => row }) {
      if (rows.length === 0) return print('None.');
      const names = form === 'wide' ? [...columns, ...more] : columns;
      return write(formatTable(rows.map(shown), names, style));
    },
    item: (item, shown = item) => write(formatItem(shown, isColoured)),
    answer: (item, field) => {
      const part = item[field];
      write(formatItem(isRow(part) ? part : item, isColoured));
    },
    result: (_item, text) => print(text),
    note: print,
  };
}

function formatItem(item: Row, isColoured: boolean): string {
  const entries = Object.entries(item)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({ name: escaped(name, { keepLines: false }), value }));
  const width = Math.max(...entries.map(({ name }) => name.length));
  return entries.map(({ name, value }) => formatField(name.padEnd(width), value, isColoured)).join('\n');
}

/** An object becomes lines of its own below its name, a list of objects a table. */
function formatField(padded: string, value: unknown, isColoured: boolean): string {
  const name = padded.trimEnd();
  const below = (text: string): string => `${name}\n${text.replaceAll(/^/gm, '  ')}`;
  if (isRow(value) && Object.keys(value).length > 0) return below(formatItem(value, isColoured));
  const rows = Array.isArray(value) ? value.filter(isRow) : [];
  if (rows.length === 0) return `${padded}  ${formatCell(name, value)}`;
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return below(formatTable(rows, columns, { isColoured, cellWidthMax }));
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
