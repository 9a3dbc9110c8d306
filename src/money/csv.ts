import { formatDecimal } from './decimal.ts';
import type { Decimal } from './decimal.ts';
import { formatMicros } from './money.ts';

/** A text, a number, an amount in micro-units or exact, or nothing. */
export type Cell = string | number | bigint | Decimal | undefined;

/** For the document. */
export const csvMediaType = 'text/csv; charset=utf-8';

/** A line as in RFC 4180, its end included. No text is a formula to a spreadsheet. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

function cellText(cell: Cell): string {
  if (cell === undefined) return '';
  if (typeof cell === 'bigint') return formatMicros(cell);
  if (typeof cell === 'number') return String(cell);
  return quoted(typeof cell === 'string' ? defused(cell) : formatDecimal(cell));
}

/** What begins like this is calculated when the file is opened, and can send the file away (OWASP, CSV injection). */
const formulaStart = /^[\s\p{Cc}\p{Cf}]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/u;

function defused(text: string): string {
  return formulaStart.test(text) ? `'${text}` : text;
}

function quoted(text: string): string {
  return /[",;\r\n\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
