import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { OwnAttempts, OwnCosts } from '../../src/bills/own-attempts.ts';
import type { BillLine } from '../../src/bills/read-lines.ts';
import { reconcileDays } from '../../src/bills/reconcile-days.ts';
import type { ReportRow } from '../../src/bills/rows.ts';

const day = (n: number): number => Date.parse('2026-10-05T00:00:00Z') / 1000 + n * 86_400;

function line(n: number, model: string, amount: string, unit = 'USD'): BillLine {
  return { job: '', unit, amount, lines: 1, at: (day(n) + 3600) * 1000, spanMs: 0, model };
}

type Costs = OwnCosts['data'][number];

const costs = (model: string, cost: string, change: Partial<Costs> = {}): Costs => ({
  model,
  upstream_model: `vendor/${model}`,
  tasks: 3,
  cost,
  cost_unknown: 0,
  ...change,
});

const never = () => {
  throw new Error('the bill names no jobs');
};

interface Ours {
  readonly [channel: string]: Readonly<Record<number, readonly Costs[]>>;
}

interface Change {
  readonly from?: number;
  readonly to?: number;
  readonly utcOffsetHours?: number;
  readonly models?: ReadonlyMap<string, string>;
}

async function report(lines: readonly BillLine[], ours: Ours, change: Change = {}) {
  const { utcOffsetHours = 0 } = change;
  const rows: ReportRow[] = [];
  const own: OwnAttempts = {
    jobs: never,
    unclaimed: never,
    find: never,
    costs(channel, { from, to }) {
      expect(to - from).toBe(86_400);
      const n = (from + utcOffsetHours * 3600 - day(0)) / 86_400;
      return Promise.resolve({ currency: 'USD', data: [...(ours[channel]?.[n] ?? [])] });
    },
  };
  const done = await reconcileDays({
    lines: (async function* each() {
      yield* lines;
    })(),
    channels: ['main', 'second'],
    models: new Map(),
    own,
    onRow: (row) => Promise.resolve(void rows.push(row)),
    ...change,
    utcOffsetHours,
  });
  return { rows, done };
}

const shortly = ({ result, at, model, unit, billed, expected, difference, lines, tasks }: ReportRow) =>
  [result, ((at ?? 0) - day(0)) / 86_400, model, unit, billed, expected, difference, lines, tasks].join(' ');

it('sums of a day and a model, over all channels of the bill', async () => {
  const ours = {
    main: {
      0: [costs('a', '1.000000'), costs('b', '2.000000'), costs('free', '0.000000')],
      1: [costs('a', '3.000000', { cost_unknown: 1 }), costs('gone', '1.000000')],
    },
    second: { 0: [costs('a', '0.500000')] },
  };
  const lines = [
    line(1, 'vendor/a', '3'),
    line(0, 'vendor/b', '2.25'),
    line(0, 'vendor/a', '0.75'),
    line(0, 'vendor/a', '0.75'),
    line(0, 'vendor/a', '7', 'CNY'),
    line(0, 'vendor/other', '1'),
  ];
  const { rows, done } = await report(lines, ours);
  expect(rows.map(shortly)).toEqual([
    'amount_unknown 0 vendor/a CNY 7   1 6',
    'matched 0 vendor/a USD 1.5 1.5 0 2 6',
    'amount_differs 0 vendor/b USD 2.25 2 0.25 1 3',
    'upstream_only 0 vendor/other USD 1   1 0',
    'amount_unknown 1 vendor/a USD 3   1 3',
    'ours_only 1 vendor/gone USD  1  0 3',
  ]);
  expect(done).toMatchObject({ period: { from: day(0), to: day(2) }, lines: 6, skipped: 0, outside: 0 });
});

it('model names in the bill are the vendor’s if the line says so, and its days follow its time zone', async () => {
  const models = new Map([
    ['A, output', 'vendor/a'],
    ['A, input', 'vendor/a'],
  ]);
  const ours = { main: { 0: [costs('a', '1.000000')] } };
  const lines = [line(0, 'A, input', '0.25'), line(0, 'A, output', '0.75')];
  expect((await report(lines, ours, { models })).rows.map(shortly)).toEqual([
    'matched 0 vendor/a USD 1 1 0 2 3',
  ]);
  // At UTC+8, a day begins at 16:00 UTC on the day before.
  const east = { models, utcOffsetHours: 8 };
  const { rows, done } = await report(lines, ours, east);
  expect(rows).toMatchObject([{ result: 'matched', at: day(0) - 8 * 3600 }]);
  expect(done.period).toEqual({ from: day(0) - 8 * 3600, to: day(1) - 8 * 3600 });
});

it('a day without lines is compared too, but nothing outside the period', async () => {
  const ours = {
    main: { 0: [costs('a', '1.000000')], 1: [costs('a', '1.000000')], 2: [costs('a', '1.000000')] },
  };
  const lines = [line(0, 'vendor/a', '1'), line(2, 'vendor/a', '1'), 'skipped'] as const;
  expect((await report(lines, ours)).rows.map(({ result }) => result)).toEqual([
    'matched',
    'ours_only',
    'matched',
  ]);
  const { done, rows } = await report(lines, ours, { from: day(2), to: day(3) });
  expect(rows.map(({ result }) => result)).toEqual(['matched']);
  expect(done).toMatchObject({ lines: 3, skipped: 1, outside: 1 });
  await expect(report([], ours)).rejects.toThrow('The bill has no lines');
  await expect(report([line(0, 'a', '1'), line(400, 'a', '1')], {})).rejects.toThrow('more than 366 days');
});

it('the order of the bill makes no difference', async () => {
  const lines = fc.array(
    fc.record({
      n: fc.nat(2),
      model: fc.constantFrom('vendor/a', 'vendor/b', ''),
      amount: fc.constantFrom('1', '0.1'),
      unit: fc.constantFrom('USD', 'CNY'),
    }),
    { minLength: 1, maxLength: 20 },
  );
  const ours = { main: { 0: [costs('a', '1.000000')], 1: [costs('b', '0.200000')] } };
  await fc.assert(
    fc.asyncProperty(lines, async (bill) => {
      const all = bill.map(({ n, model, amount, unit }) => line(n, model, amount, unit));
      expect(await report(all.toReversed(), ours)).toEqual(await report(all, ours));
    }),
    { numRuns: 50 },
  );
});

it('compares whole days of the bill, from the day of --from to the day before --to', async () => {
  const ours = {
    main: { 0: [costs('a', '1.000000')], 1: [costs('a', '1.000000')], 2: [costs('a', '9.000000')] },
  };
  const lines = [line(0, 'vendor/a', '1'), line(1, 'vendor/a', '1')];
  // In Beijing, a month in UTC begins at eight in the morning.
  const east = { utcOffsetHours: 8, from: day(0), to: day(2) };
  const { rows, done } = await report(
    lines.map((each) => (each === 'skipped' ? each : { ...each, at: each.at - 8 * 3_600_000 })),
    ours,
    east,
  );
  expect(rows.map(({ result }) => result)).toEqual(['matched', 'matched']);
  expect(done).toMatchObject({ period: { from: day(0) - 8 * 3600, to: day(2) - 8 * 3600 }, outside: 0 });
  const part = await report(lines, ours, { from: day(0), to: day(1) + 7200 });
  expect(part.rows.map(({ result }) => result)).toEqual(['matched']);
  expect(part.done).toMatchObject({ period: { from: day(0), to: day(1) }, outside: 1 });
});

it('refuses a period that contains no day of the bill', async () => {
  for (const to of [day(1), day(1) + 43_200, day(0)])
    await expect(report([], {}, { from: day(1), to })).rejects.toThrow('No day of the bill');
});
