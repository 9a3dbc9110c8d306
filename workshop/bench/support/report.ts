import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const resultsDir: string = fileURLToPath(new URL('../results/', import.meta.url));

type Cell = string | number;
export type Row = Readonly<Record<string, Cell>>;

export interface Report {
  readonly setting: Readonly<Record<string, string | number | boolean>>;
  readonly tables: readonly Table[];
  readonly goals: readonly Goal[];
  readonly raw: unknown;
}

export interface Table {
  readonly title: string;
  readonly rows: readonly Row[];
}

export interface Goal {
  readonly what: string;
  readonly goal: string;
  readonly measured: string;
  readonly met: boolean;
}

export async function publish(
  report: Report,
  { name, command }: { readonly name: string; readonly command: string },
  facts: Row,
): Promise<void> {
  const machine = { ...(await describeMachine()), ...facts };
  const lines = [
    `## ${name}`,
    '',
    `Command: \`${command}\``,
    '',
    Object.entries({ ...machine, ...report.setting })
      .map(([name, value]) => `${name} ${value}`)
      .join(' · '),
    ...report.tables.flatMap(({ title, rows }) => ['', `### ${title}`, '', ...markdownTable(rows)]),
    ...(report.goals.length === 0 ? [] : ['', '### Goals', '', ...markdownTable(report.goals.map(goalRow))]),
  ];
  console.log(`\n${lines.join('\n')}\n`);
  await mkdir(resultsDir, { recursive: true });
  const stamp = new Date().toISOString().replaceAll(/[:.]/g, '-');
  const file = join(resultsDir, `${name}-${stamp}.json`);
  await writeFile(file, `${JSON.stringify({ name, command, machine, ...report }, numbersAsText, 2)}\n`);
  console.error(`written: ${file}`);
}

function goalRow({ what, goal, measured, met }: Goal): Row {
  return { what, goal, measured, '': met ? 'met' : 'missed' };
}

function numbersAsText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

async function describeMachine(): Promise<Row> {
  const commit = await promisify(execFile)('git', ['describe', '--always', '--dirty'], {
    cwd: resultsDir.replace(/bench\/results\/?$/, ''),
  }).then(
    ({ stdout }) => stdout.trim(),
    () => 'unknown',
  );
  return {
    commit,
    node: process.version,
    cpus: cpus().length,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    memory: `${(totalmem() / 2 ** 30).toFixed(0)} GB`,
    'load after': (loadavg()[0] ?? 0).toFixed(2),
  };
}

function markdownTable(rows: readonly Row[]): string[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = rows.map((row) => names.map((name) => String(row[name] ?? '')));
  const widths = names.map((name, column) =>
    Math.max(3, name.length, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  const isNumeric = names.map((_, column) =>
    cells.every((row) => row[column] === '' || /^[\d.,-]+ ?(?:%|×|MB|kB)?$/.test(row[column] ?? '')),
  );
  const line = (row: readonly string[]): string =>
    `| ${row
      .map((cell, column) =>
        isNumeric[column] === true ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join(' | ')} |`;
  const rule = widths.map((width, column) =>
    isNumeric[column] === true ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width),
  );
  return [line(names), line(rule), ...cells.map(line)];
}

export function short(value: number): string {
  if (!Number.isFinite(value)) return '-';
  const magnitude = Math.floor(Math.log10(Math.max(Math.abs(value), 0.001)));
  return value.toFixed(Math.max(0, Math.min(3, 2 - magnitude)));
}

export function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MB`;
}

export function percentOf(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(0)} %`;
}

export function times(a: number, b: number): string {
  return `${(a / b).toFixed(2)} ×`;
}
