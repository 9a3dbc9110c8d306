import fc from 'fast-check';
import { expect, it } from 'vitest';
import { projectMonth } from '../../src/money/projection.ts';

const at = (day: number, month = 10) => Date.UTC(2026, month, day, 15);
const long = Date.UTC(2025, 0);

it('each remaining day costs the average of the complete days, and today at least what it has cost so far', () => {
  const project = (used: bigint, today: bigint, day: number) =>
    projectMonth({ used, today, now: at(day), since: long });
  expect(project(100n, 0n, 11)).toEqual({ projected: 300n, days: 10 });
  expect(project(104n, 4n, 11)).toEqual({ projected: 300n, days: 10 });
  expect(project(150n, 50n, 11)).toEqual({ projected: 340n, days: 10 });
  expect(project(0n, 0n, 11)).toEqual({ projected: 0n, days: 10 });
  expect(project(290n, 0n, 30)).toEqual({ projected: 300n, days: 29 });
});

it('fewer than three complete days since the start of the month or the key are not enough', () => {
  const project = (day: number, since: number) => projectMonth({ used: 90n, today: 0n, now: at(day), since });
  expect(project(3, long)).toEqual({ days: 2 });
  expect(project(4, long)).toEqual({ projected: 900n, days: 3 });
  expect(project(20, at(18))).toEqual({ days: 2 });
  expect(project(20, at(17))).toEqual({ projected: 420n, days: 3 });
  // The clock of this process may be behind the clock that dated the key.
  expect(project(1, at(2))).toEqual({ days: 0 });
});

it('depends on the length of the month, and is rounded once', () => {
  expect(projectMonth({ used: 7n, today: 0n, now: at(4, 1), since: long })).toEqual({
    projected: 65n,
    days: 3,
  });
});

it('is never less than the current use', () => {
  const amount = fc.bigInt({ min: 0n, max: 10n ** 18n });
  fc.assert(
    fc.property(amount, amount, fc.integer({ min: 4, max: 30 }), (before, today, day) => {
      const { projected = -1n } = projectMonth({ used: before + today, today, now: at(day), since: long });
      expect(projected).toBeGreaterThanOrEqual(before + today);
    }),
  );
});
