import { createHash } from 'node:crypto';
import { formatMicros, type Micros } from '../../money/money.ts';
import { formatMovement, movementOf } from '../../money/movement.ts';
import { plainText } from '../../base/plain-text.ts';
import type { Balance } from '../../ledger/ledger.ts';
import type { StatementEntry } from '../../ledger/statement.ts';
import { escapeHtml } from '../escape-html.ts';
import { reasonOf, type StatementForm, type TitledStatement } from './form.ts';
import { isoSeconds } from '../../base/times.ts';

const style = `
body { font: 10pt/1.4 sans-serif; margin: 2em auto; max-width: 75em; }
table { border-collapse: collapse; margin: 1em 0; width: 100%; }
th, td { border-bottom: 1px solid #bbb; padding: 0.2em 0.5em; text-align: left; vertical-align: top; }
.n { font-variant-numeric: tabular-nums; text-align: right; white-space: nowrap; }
td { overflow-wrap: anywhere; }
thead { display: table-header-group; }
tr { break-inside: avoid; }
@media print { body { font-size: 8pt; margin: 0; max-width: none; } }
`;

const styleHash = createHash('sha256').update(style).digest('base64');
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'`;

const wordsMax = 1_000;
const entryColumns = ['Time (UTC)', 'No.', 'Entry', 'Task or reference', 'By, and why'];
const moneyColumns = ['Amount', 'Change', 'Available', 'Held'];

/** A printable page. Its content security policy forbids scripts and external resources. */
export const page: StatementForm = {
  mediaType: 'text/html; charset=utf-8',
  headers: { 'content-security-policy': policy, 'x-content-type-options': 'nosniff' },
  open: (statement) => head(statement) + balances(statement) + tableHead([...entryColumns], moneyColumns),
  rows: (entries) => entries.map(entryRow).join(''),
  close: (statement) => `</tbody></table>\n${sumTable(statement)}</body></html>\n`,
};

function head({ account, name, currency, month }: TitledStatement): string {
  const title = `Statement ${text(month)}: ${text(name === '' ? account : `${name} (${account})`)}`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title><style>${style}</style></head>
<body><h1>${title}</h1>
<p>All amounts in ${text(currency)}, all times in UTC.</p>
`;
}

function balances({ period, opening, closing }: TitledStatement): string {
  const row = (what: string, at: number, { available, held }: Balance): string =>
    `<tr><td>${what}</td><td>${isoSeconds(at)}</td>${money(available)}${money(held)}</tr>\n`;
  const rows = row('Opening', period.from, opening) + row('Closing', period.before, closing);
  return `${tableHead(['Balance', 'At'], ['Available', 'Held'])}${rows}</tbody></table>\n`;
}

function tableHead(words: readonly string[], amounts: readonly string[]): string {
  const cells = [
    ...words.map((name) => `<th>${name}</th>`),
    ...amounts.map((name) => `<th class="n">${name}</th>`),
  ];
  return `<table><thead><tr>${cells.join('')}</tr></thead><tbody>\n`;
}

function entryRow(entry: StatementEntry): string {
  const words = [
    isoSeconds(entry.at),
    entry.seq.toString(),
    entry.kind,
    entry.task ?? entry.reference ?? '',
    reasonOf(entry) ?? '',
  ];
  const amounts = [
    movement(movementOf(entry)),
    movement(entry.change),
    money(entry.available),
    money(entry.held),
  ];
  return `<tr>${words.map((word) => `<td>${text(word)}</td>`).join('')}${amounts.join('')}</tr>\n`;
}

function sumTable(statement: TitledStatement): string {
  const rows = statement
    .sums()
    .map((sum) => `<tr><td>${sum.kind}</td><td>${sum.entries}</td>${movement(movementOf(sum))}</tr>\n`);
  return `${tableHead(['Sum of', 'Entries'], ['Amount'])}${rows.join('')}</tbody></table>\n`;
}

function money(balance: Micros): string {
  return figure(formatMicros(balance));
}

function movement(change: Micros): string {
  return figure(formatMovement(change));
}

function figure(shown: string): string {
  return `<td class="n">${shown}</td>`;
}

function text(words: string): string {
  return escapeHtml(plainText(words, wordsMax));
}
