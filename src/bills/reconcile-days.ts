import { compareAmounts, sumBilled, type Billed, type Expected } from '../money/bill.ts';
import { addAmounts } from '../money/decimal.ts';
import { BillError } from './bill-error.ts';
import type { OwnCosts } from './own-attempts.ts';
import { limitDays } from './limit-days.ts';
import { linesWithin } from './read-lines.ts';
import type { Read, Reconciling } from './reconcile-jobs.ts';
import { rowOf, type ReportRow, type RowFields } from './rows.ts';

interface ByDays extends Reconciling {
  readonly utcOffsetHours: number;
  readonly models: ReadonlyMap<string, string>;
}

const daySeconds = 86_400;
const sumsMax = 50_000;

/**
 * Compares bills that list no jobs with our records. Their lines cannot be matched to tasks, so sums per day, model and
 * unit are compared instead. The day that contains `from` is included, and the day that contains `to` is not. Rows are
 * ordered by day and model.
 */
export async function reconcileDays(asked: ByDays): Promise<Read> {
  const { sums, ...read } = await readSums(asked);
  const { from, to } = read.period;
  limitDays(read.period, asked.daysMax);
  for (let day = from; day < to; day += daySeconds) await compareDay(day, sums, asked);
  return read;
}

type Sums = Map<number, Map<string, Map<string, Billed>>>;

async function readSums(asked: ByDays): Promise<Read & { readonly sums: Sums }> {
  const { lines, from, to, utcOffsetHours, models } = asked;
  const dayOf = (seconds: number): number => {
    const offset = utcOffsetHours * 3600;
    return Math.floor((seconds + offset) / daySeconds) * daySeconds - offset;
  };
  const begin = from === undefined ? undefined : dayOf(from);
  const end = to === undefined ? undefined : dayOf(to);
  if (begin !== undefined && end !== undefined && begin >= end)
    throw new BillError('No day of the bill is in this period.');
  const { within, counts } = linesWithin(lines, { from: begin, to: end });
  const sums: Sums = new Map();
  let kept = 0;
  for await (const line of within) {
    const name = line.model ?? '';
    kept += addTo(sums, dayOf(line.at / 1000), { ...line, model: models.get(name) ?? name });
    if (kept > sumsMax) throw new BillError('The bill has too many models: is `model` the right column?');
  }
  const ordered = [...sums.keys()].toSorted((a, b) => a - b);
  const period = { from: begin ?? ordered[0] ?? 0, to: end ?? (ordered.at(-1) ?? 0) + daySeconds };
  return { sums, period, ...counts };
}

function addTo(sums: Sums, day: number, line: Billed & { readonly model: string }): number {
  const models = sums.get(day) ?? new Map<string, Map<string, Billed>>();
  const units = models.get(line.model) ?? new Map<string, Billed>();
  const before = units.get(line.unit);
  sums.set(day, models.set(line.model, units));
  units.set(line.unit, before === undefined ? line : sumBilled(before, line));
  return before === undefined ? 1 : 0;
}

interface Ours {
  readonly model: string;
  readonly tasks: number;
  readonly cost: string;
  readonly unknown: number;
}

async function compareDay(day: number, sums: Sums, { channels, own, onRow }: ByDays): Promise<void> {
  const found = await Promise.all(
    channels.map((channel) => own.costs(channel, { from: day, to: day + daySeconds })),
  );
  const ours = byVendorModel(found);
  const currency = found[0]?.currency ?? '';
  const billed = sums.get(day);
  const names = new Set([...(billed?.keys() ?? []), ...ours.keys()]);
  for (const model of [...names].toSorted()) {
    const mine = ours.get(model);
    const lines = [...(billed?.get(model)?.values() ?? [])].toSorted((a, b) => (a.unit < b.unit ? -1 : 1));
    for (const line of lines) await onRow(billedRow(line, mine, { day, currency }));
    if (lines.length === 0 && mine !== undefined && (mine.unknown > 0 || /[1-9]/.test(mine.cost)))
      await onRow(row({ result: 'ours_only', unit: currency, expected: mine.cost, day, model, ours: mine }));
  }
}

function byVendorModel(found: readonly OwnCosts[]): ReadonlyMap<string, Ours> {
  const ours = new Map<string, Ours>();
  for (const { data } of found) {
    for (const { model: name, upstream_model: vendors, tasks, cost, cost_unknown: unknown } of data) {
      const model = vendors ?? name;
      const before = ours.get(model) ?? { model, tasks: 0, cost: '0', unknown: 0 };
      ours.set(model, {
        model,
        tasks: before.tasks + tasks,
        cost: addAmounts(before.cost, cost),
        unknown: before.unknown + unknown,
      });
    }
  }
  return ours;
}

interface Day {
  readonly day: number;
  readonly currency: string;
}

function billedRow(line: Billed, ours: Ours | undefined, { day, currency }: Day): ReportRow {
  const { unit, amount, lines, model = '' } = line;
  const fields = { unit, billed: amount, lines, day, model };
  if (ours === undefined) return row({ ...fields, result: 'upstream_only' });
  const expected: Expected[] = ours.unknown > 0 ? [] : [{ by: 'rules', amount: ours.cost, unit: currency }];
  return row({ ...fields, ...compareAmounts(line, expected), ours });
}

interface Fields extends RowFields {
  readonly day: number;
  readonly model: string;
  readonly ours?: Ours;
}

function row({ day, model, ours, ...fields }: Fields): ReportRow {
  const { tasks = 0, unknown = 0 } = ours ?? {};
  return rowOf({ ...fields, at: day, model: model === '' ? null : model, tasks, cost_unknown: unknown });
}
