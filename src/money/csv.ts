import { formatDecimal, type Decimal } from './decimal.ts';
import { formatMicros } from './money.ts';

export type Cell = string | number | bigint | Decimal | undefined;

export const csvMediaType = 'text/csv; charset=utf-8';

/** Follows RFC 4180 and includes the line break. Text that a spreadsheet would treat as a formula is escaped. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

function cellText(cell: Cell): string {
  if (cell === undefined) return '';
  if (typeof cell === 'bigint') return formatMicros(cell);
  if (typeof cell === 'number') return String(cell);
  return quoted(typeof cell === 'string' ? defused(cell) : formatDecimal(cell));
}

/**
 * Cells that start like this are formulas. A spreadsheet evaluates them when it opens the file, and a formula can leak
 * the file's content (OWASP, CSV injection).
 */
const formulaStart = /^[\s\p{Cc}\p{Cf}]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/u;

function defused(text: string): string {
  return formulaStart.test(text) ? `'${text}` : text;
}

function quoted(text: string): string {
  return /[",;\r\n\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
