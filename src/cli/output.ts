import { escaped } from '../domain/plain-text.ts';
import type { Row } from './admin-client.ts';

/** What a verb says: text for people, or with `--json` exactly what the gateway answered. */
export interface Output {
  readonly isJson: boolean;
  /** A table of these columns. */
  rows(rows: readonly Row[], columns: readonly string[]): void;
  /** One object, one field per line. `shown`: what people see of it. */
  item(item: Row, shown?: Row): void;
  /** For people only the field of this name, one line for each of its own; otherwise all of it. */
  answer(item: Row, field: string): void;
  /** A summary in words; with `--json` the object. */
  result(item: Row, text: string): void;
  /** For people only. */
  note(text: string): void;
}

const missing = '-';
const cellCharactersMax = 60;

/** What comes from elsewhere never reaches the terminal as it is: every text goes through here. */
export function createOutput(json: boolean, write: (text: string) => void): Output {
  const print = (text: string) => write(escaped(text, { keepLines: true }));
  if (json) {
    return {
      isJson: true,
      rows: (rows) => print(JSON.stringify(rows, null, 2)),
      item: (item) => print(JSON.stringify(item, null, 2)),
      answer: (item) => print(JSON.stringify(item, null, 2)),
      result: (item) => print(JSON.stringify(item, null, 2)),
      note: () => undefined,
    };
  }
  return {
    isJson: false,
    rows: (rows, columns) => print(rows.length === 0 ? 'None.' : formatTable(rows, columns)),
    item: (item, shown = item) => print(formatItem(shown)),
    answer: (item, field) => {
      const part = item[field];
      print(formatItem(isRow(part) ? part : item));
    },
    result: (_item, text) => print(text),
    note: print,
  };
}

/** Columns as wide as their widest cell, two blanks between; numbers and money to the right. */
export function formatTable(rows: readonly Row[], columns: readonly string[]): string {
  const table = columns.map((name) => {
    const cells = rows.map((row) => shorten(formatCell(name, row[name])));
    const width = Math.max(name.length, ...cells.map((cell) => cell.length));
    const alignRight = cells.every((cell) => cell === missing || /^-?\d+(\.\d+)?$/.test(cell));
    const pad = (text: string): string => (alignRight ? text.padStart(width) : text.padEnd(width));
    return [name.toUpperCase(), ...cells].map(pad);
  });
  const lines = Array.from({ length: rows.length + 1 }, (_, line) =>
    table.map((column) => column[line] ?? ''),
  );
  return lines.map((cells) => cells.join('  ').trimEnd()).join('\n');
}

function formatItem(item: Row): string {
  const entries = Object.entries(item).filter(([, value]) => value !== undefined);
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => formatField(name, value, width)).join('\n');
}

/** An object becomes lines of its own below its name, a list of objects a table. */
function formatField(name: string, value: unknown, width: number): string {
  if (isRow(value) && Object.keys(value).length > 0)
    return `${name}\n${formatItem(value).replaceAll(/^/gm, '  ')}`;
  const rows = Array.isArray(value) ? value.filter(isRow) : [];
  if (rows.length === 0) return `${name.padEnd(width)}  ${formatCell(name, value)}`;
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const table = formatTable(rows, columns);
  return `${name}\n${table.replaceAll(/^/gm, '  ')}`;
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const secondsNames = /_at$|^(?:at|since|until)$/;

function formatCell(name: string, value: unknown): string {
  if (value === undefined || value === null || value === '') return missing;
  if (typeof value === 'number' && secondsNames.test(name)) return formatTime(value);
  return escaped(wordsOf(value), { keepLines: false });
}

function wordsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return value.join(', ') || missing;
  return JSON.stringify(value);
}

export function formatTime(value: number): string {
  return new Date(value * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
}

function shorten(cell: string): string {
  return cell.length <= cellCharactersMax ? cell : `${cell.slice(0, cellCharactersMax - 1)}…`;
}
