import stringWidth from 'string-width';
import { escaped } from '../base/plain-text.ts';
import type { Row } from './admin-client.ts';
import { isoSeconds } from '../base/times.ts';

export interface TableStyle {
  /** The current time, in Unix milliseconds. If set, times are shown as ages. */
  readonly now?: number;
  /** The maximum width, in terminal columns. If undefined, text is never truncated. */
  readonly widthMax?: number;
  /**
   * Truncates only text with several words, even if the table is then still too wide, because a truncated id or time
   * would be useless.
   */
  readonly cutsTextsOnly?: boolean;
  readonly cellWidthMax?: number;
  readonly isColoured?: boolean;
}

export const missing = '-';
const gap = '  ';
const cutWidthMin = 6;
const textWidthMin = 10;

interface Column {
  readonly header: string;
  readonly cells: readonly string[];
  readonly width: number;
  readonly isNumber: boolean;
  /** Keywords, such as states, are useless when truncated. */
  readonly isWord: boolean;
  readonly isText: boolean;
}

export function formatTable(rows: readonly Row[], names: readonly string[], style: TableStyle = {}): string {
  const columns = fit(
    names.map((name) => readColumn(rows, name, style)),
    style,
  ).map((column) => printed(column, style.isColoured === true));
  const lines = Array.from({ length: rows.length + 1 }, (_, line) =>
    columns.map((column) => column[line] ?? ''),
  );
  return lines.map((cells) => cells.join(gap).trimEnd()).join('\n');
}

function readColumn(
  rows: readonly Row[],
  name: string,
  { now, cellWidthMax = Number.POSITIVE_INFINITY }: TableStyle,
): Column {
  const header = escaped(headerOf(name, now !== undefined), { keepLines: false });
  const cells = rows.map((row) => cutToWidth(formatCell(name, row[name], now), cellWidthMax));
  const width = Math.max(...[header, ...cells].map((text) => stringWidth(text)));
  const all = (pattern: RegExp): boolean => cells.every((cell) => cell === missing || pattern.test(cell));
  return {
    header,
    cells,
    width,
    isNumber: all(/^-?\d+(\.\d+)?$/),
    isWord: all(/^[a-z_]+$/),
    isText: cells.some((cell) => /\S \S/.test(cell)),
  };
}

function headerOf(name: string, hasAges: boolean): string {
  const shown = hasAges ? (name === 'created_at' ? 'age' : name.replace(/_at$/, '')) : name;
  return shown.toUpperCase();
}

/**
 * Truncates the widest column until the table fits. Keywords, ids and the first column are truncated last, and numbers
 * never.
 */
function fit(
  columns: readonly Column[],
  { widthMax = Number.POSITIVE_INFINITY, cutsTextsOnly = false }: TableStyle,
): Column[] {
  const widthMin = cutsTextsOnly ? textWidthMin : cutWidthMin;
  const widths = columns.map(({ width }) => width);
  let excess = widths.reduce((sum, width) => sum + width, gap.length * (columns.length - 1)) - widthMax;
  for (const isFirstCut of [true, false]) {
    while (excess > 0) {
      const widest = columns.reduce((best, { isNumber, isWord, isText, header }, index) => {
        const isKept =
          isNumber ||
          (cutsTextsOnly && !isText) ||
          (isFirstCut && (isWord || index === 0 || header === 'ID'));
        const isWider = (widths[index] ?? 0) > Math.max(widthMin, stringWidth(header), widths[best] ?? 0);
        return !isKept && isWider ? index : best;
      }, -1);
      if (widest < 0) break;
      widths[widest] = (widths[widest] ?? 0) - 1;
      excess -= 1;
    }
  }
  return columns.map((column, index) => {
    const width = widths[index] ?? 0;
    return { ...column, width, cells: column.cells.map((cell) => cutToWidth(cell, width)) };
  });
}

function printed({ header, cells, width, isNumber }: Column, isColoured: boolean): string[] {
  const pad = (text: string): string => {
    const blanks = ' '.repeat(Math.max(0, width - stringWidth(text)));
    return isNumber ? blanks + text : text + blanks;
  };
  if (!isColoured) return [header, ...cells].map(pad);
  return [`${bold}${pad(header)}${plain}`, ...cells.map((cell) => painted(cell, pad(cell)))];
}

const bold = '\u001B[1m';
const plain = '\u001B[0m';
const [red, green, yellow] = ['\u001B[31m', '\u001B[32m', '\u001B[33m'];

const colours: ReadonlyMap<string, string> = new Map([
  ...['succeeded', 'delivered', 'closed'].map((word) => [word, green] as const),
  ...['failed', 'gave_up', 'open'].map((word) => [word, red] as const),
  ...['lost', 'asking', 'review', 'broken', 'half_open'].map((word) => [word, yellow] as const),
]);

function painted(cell: string, shown: string): string {
  const colour = colours.get(cell);
  return colour === undefined ? shown : `${colour}${shown}${plain}`;
}

const graphemes = new Intl.Segmenter();

export function cutToWidth(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let cut = '';
  for (const { segment } of graphemes.segment(text)) {
    if (stringWidth(cut + segment) > width - 1) break;
    cut += segment;
  }
  return `${cut}…`;
}

export function formatCell(name: string, value: unknown, now?: number): string {
  if (value === undefined || value === null || value === '') return missing;
  if (typeof value === 'number' && /_at$|^(?:at|since|until)$/.test(name))
    return now === undefined ? formatTime(value) : formatAge(now / 1000 - value);
  return escaped(wordsOf(value), { keepLines: false });
}

function wordsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return value.join(value.every(isSentence) ? ' ' : ', ') || missing;
  return JSON.stringify(value);
}

function isSentence(text: string): boolean {
  return text.endsWith('.');
}

export function formatTime(value: number): string {
  return isoSeconds(value * 1000);
}

const units = [
  ['y', 365 * 86_400],
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
] as const;

/**
 * Returns an age such as `3m`, or a future time such as `in 2h`. Switches to a larger unit only at twice its length, so
 * `90m` and `40h` are possible.
 */
export function formatAge(seconds: number): string {
  const distance = Math.abs(seconds);
  const [unit, length] = units.find(([, one]) => distance >= 2 * one) ?? ['s', 1];
  const text = `${Math.floor(distance / length)}${unit}`;
  return seconds < -1 ? `in ${text}` : text;
}
