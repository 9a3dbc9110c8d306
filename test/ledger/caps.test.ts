import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Cap } from '../../src/money/caps.ts';
import { createEntryHash, emptyHead, type EntryDocument } from '../../src/ledger/entry.ts';
import {
  creditOperation,
  holdOperation,
  refundOperation,
  settleOperation,
  voidOperation,
} from '../../src/ledger/operation.ts';
import type { Operation } from '../../src/ledger/operation.ts';
import { allKeys, planBatch, scopesOfBatch, type Outcome } from '../../src/ledger/plan.ts';
import { nothingSpent, scopesOf } from '../../src/ledger/spent.ts';
import { createAccountCheck } from '../../src/ledger/verify-account.ts';
import { testLedgerKey } from '../support/sealing.ts';

const hash = createEntryHash(testLedgerKey);

const account = 'acct';
const hourMs = 3_600_000;
const noon = Date.UTC(2026, 10, 29, 12);

function openBook() {
  const entries: EntryDocument[] = [];
  function run(operations: readonly Operation[], at: number): readonly Outcome[] {
    const wanted = new Set(operations.flatMap(allKeys));
    const known = new Map(entries.filter(({ key }) => wanted.has(key)).map((entry) => [entry.key, entry]));
    const sums = new Map(entries.flatMap((entry) => entry.spent ?? []).map((spent) => [spent.scope, spent]));
    const scopes = [...scopesOfBatch(operations, known)];
    const spent = new Map(scopes.map((scope) => [scope, sums.get(scope) ?? nothingSpent(scope)]));
    const plan = planBatch(operations, { head: entries.at(-1) ?? emptyHead, known, spent, at, hash });
    entries.push(...plan.entries);
    return plan.operations.map(({ outcome }) => outcome);
  }
  run([creditOperation({ account, amount: 1_000_000n, reference: 'start' })], 0);
  return { entries, run };
}

const limits: readonly Cap[] = [
  { scope: 'key', window: 'day', limit: 60n },
  { scope: 'key', window: 'month', limit: 150n },
  { scope: 'model', window: 'day', limit: 40n },
  { scope: 'end_user', window: 'month', limit: 90n },
  { scope: 'end_user', window: 'total', limit: 200n },
];

const hold = (task: string, amount: bigint, { caps = limits, user = 'u1', key = 'k1', model = 'm1' } = {}) =>
  holdOperation({
    account,
    task,
    by: { key, model, endUser: user, caps },
    amount,
    basis: '{}',
    overdraftLimit: 0n,
  });

function sumsIn(entries: readonly EntryDocument[], scope: string, window: string) {
  const sums = { used: 0n, held: 0n };
  let before: Pick<EntryDocument, 'available' | 'held'> = emptyHead;
  for (const entry of entries) {
    const counts = entry.day?.startsWith(window) === true && scopesOf(entry).some(({ id }) => id === scope);
    if (counts) {
      sums.used += before.available - entry.available;
      sums.held += entry.held - before.held;
    }
    before = entry;
  }
  return sums;
}

const taskNumber = fc.nat({ max: 11 });
const amountOf = (n: number) => BigInt(7 * n + 3);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 5,
    arbitrary: taskNumber.map((n) =>
      hold(`t${n}`, amountOf(n), { user: `u${n % 3}`, key: `k${n % 2}`, model: `m${n % 4}` }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(taskNumber, fc.bigInt({ min: 0n, max: 120n }))
      .map(([n, amount]) => settleOperation({ account, task: `t${n}`, held: amountOf(n), amount })),
  },
  { weight: 2, arbitrary: taskNumber.map((n) => voidOperation({ account, task: `t${n}` })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(taskNumber, fc.bigInt({ min: 1n, max: 60n }))
      .map(([n, amount]) => refundOperation({ account, task: `t${n}`, amount })),
  },
);

function expectSums(entries: readonly EntryDocument[]): void {
  const last = new Map(entries.flatMap(({ spent }) => spent ?? []).map((spent) => [spent.scope, spent]));
  for (const [scope, { day, today, month, total }] of last) {
    expect([today, month, total]).toEqual([
      sumsIn(entries, scope, day),
      sumsIn(entries, scope, day.slice(0, 7)),
      sumsIn(entries, scope, ''),
    ]);
  }
}

const windowOf = { day: 10, month: 7, total: 0 };

describe('any history, by writers whose clocks differ, over the end of days and of a month', () => {
  it('has sums that equal its entries, and no hold beyond a cap', () => {
    const hours = fc.integer({ min: -30, max: 60 });
    fc.assert(
      fc.property(fc.array(fc.tuple(operation, hours), { maxLength: 50 }), (steps) => {
        const book = openBook();
        for (const [step, hour] of steps) {
          const [outcome] = book.run([step], noon + hour * hourMs);
          expectSums(book.entries);
          if (step.kind !== 'hold' || outcome?.state !== 'done' || outcome.replayed) continue;
          const { entry } = outcome;
          for (const { scope, window, limit } of limits) {
            const id = scopesOf(entry).find(({ of }) => of === scope)?.id ?? '';
            const { used } = sumsIn(book.entries, id, entry.day?.slice(0, windowOf[window]) ?? '');
            expect(used).toBeLessThanOrEqual(limit);
          }
        }
        const faults: unknown[] = [];
        const check = createAccountCheck(account, { hash, report: (violation) => faults.push(violation) });
        for (const entry of book.entries) check.next(entry);
        expect(faults).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('gives the same result however it is split into batches', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 30 }), (operations) => {
        const [alone, together] = [openBook(), openBook()];
        const outcomes = operations.flatMap((step) => alone.run([step], noon));
        expect(together.run(operations, noon)).toEqual(outcomes);
        expect(together.entries).toEqual(alone.entries);
      }),
    );
  });
});

const daily = (limit: bigint): readonly Cap[] => [{ scope: 'key', window: 'day', limit }];
const stateOf = ([outcome]: readonly Outcome[]) => outcome?.state;

it('a cap admits an amount that fits to the last micro-unit, and a refusal states what is left and until when', () => {
  const book = openBook();
  const caps = daily(100n);
  expect(stateOf(book.run([hold('a', 60n, { caps })], noon))).toBe('done');
  expect(book.run([hold('b', 41n, { caps })], noon)).toEqual([
    {
      state: 'capped',
      cap: {
        scope: 'key',
        window: 'day',
        limit: 100n,
        used: 60n,
        held: 60n,
        left: 40n,
        resetsAt: Date.UTC(2026, 10, 30),
      },
    },
  ]);
  expect(stateOf(book.run([hold('c', 40n, { caps })], noon))).toBe('done');
});

it.each([
  { amount: 1n, state: 'capped' },
  { amount: 0n, state: 'done' },
])('a cap of zero: a hold of $amount is $state', ({ amount, state }) => {
  expect(stateOf(openBook().run([hold('a', amount, { caps: daily(0n) })], noon))).toBe(state);
});

it('if several caps refuse, the one with the least left is named', () => {
  const book = openBook();
  const caps: Cap[] = [
    { scope: 'key', window: 'month', limit: 9n },
    { scope: 'end_user', window: 'total', limit: 5n },
    { scope: 'model', window: 'day', limit: 7n },
  ];
  expect(book.run([hold('a', 10n, { caps })], noon)).toMatchObject([
    { cap: { scope: 'end_user', window: 'total', left: 5n } },
  ]);
});

it('the next day and the next month begin at zero, and a total is never reset', () => {
  const book = openBook();
  const [day, month, total] = [daily(10n), [{ scope: 'key', window: 'month', limit: 21n }] as const, [{ scope: 'key', window: 'total', limit: 25n }] as const]; // prettier-ignore
  const midnight = Date.UTC(2026, 10, 30);
  book.run([hold('a', 10n)], midnight - 1);
  expect(stateOf(book.run([hold('b', 1n, { caps: day })], midnight - 1))).toBe('capped');
  expect(stateOf(book.run([hold('c', 10n, { caps: day })], midnight))).toBe('done');
  expect(stateOf(book.run([hold('d', 1n, { caps: month })], midnight))).toBe('done');
  const december = Date.UTC(2026, 11, 1);
  expect(stateOf(book.run([hold('e', 1n, { caps: total })], december))).toBe('done');
  expect(stateOf(book.run([hold('f', 14n, { caps: month })], december))).toBe('done');
  expect(stateOf(book.run([hold('g', 1n, { caps: total })], december))).toBe('capped');
});

it('a writer whose clock is behind neither reopens yesterday’s window nor resets today’s', () => {
  const book = openBook();
  const midnight = Date.UTC(2026, 10, 30);
  const caps = daily(10n);
  book.run([hold('a', 10n, { caps })], midnight);
  expect(stateOf(book.run([hold('late', 1n, { caps })], midnight - 1))).toBe('capped');
  const [outcome] = book.run([hold('free', 1n)], midnight - 1);
  expect(outcome).toMatchObject({ state: 'done', entry: { day: '2026-11-30' } });
  expect(stateOf(book.run([hold('b', 1n, { caps })], midnight))).toBe('capped');
});

it('a hold of yesterday that is released, or settled for less, frees money for the month but not for today', () => {
  const book = openBook();
  const midnight = Date.UTC(2026, 10, 30);
  book.run([hold('a', 30n, { caps: [] }), hold('b', 30n, { caps: [] })], midnight - 1);
  book.run([hold('c', 5n)], midnight);
  const close = [
    voidOperation({ account, task: 'a' }),
    settleOperation({ account, task: 'b', held: 30n, amount: 10n }),
  ];
  book.run(close, midnight + hourMs);
  const [key] = book.entries.at(-1)?.spent ?? [];
  const [today, both] = [
    { used: 5n, held: 5n },
    { used: 15n, held: 5n },
  ];
  expect(key).toEqual({ scope: 'key:k1', day: '2026-11-30', today, month: both, total: both });
});

it('on the day of the hold, a charge beyond the hold is counted, and a refund is deducted', () => {
  const book = openBook();
  const caps = daily(100n);
  book.run([hold('a', 60n, { caps })], noon);
  book.run([settleOperation({ account, task: 'a', held: 60n, amount: 130n })], noon);
  expect(book.run([hold('b', 1n, { caps })], noon)).toMatchObject([{ cap: { used: 130n, left: 0n } }]);
  book.run([refundOperation({ account, task: 'a', amount: 80n })], noon);
  expect(stateOf(book.run([hold('b', 50n, { caps })], noon))).toBe('done');
});

it('a free request is not refused, even while a cap is exceeded', () => {
  const book = openBook();
  const caps: Cap[] = [{ scope: 'key', window: 'total', limit: 10n }];
  book.run([hold('a', 10n, { caps })], noon);
  book.run([settleOperation({ account, task: 'a', held: 10n, amount: 30n })], noon);
  expect(stateOf(book.run([hold('b', 1n, { caps })], noon))).toBe('capped');
  expect(stateOf(book.run([hold('c', 0n, { caps })], noon))).toBe('done');
});

it('two keys, two models and two end users do not share a cap', () => {
  const book = openBook();
  const caps: Cap[] = [
    { scope: 'model', window: 'day', limit: 5n },
    { scope: 'end_user', window: 'day', limit: 5n },
  ];
  book.run([hold('a', 5n, { caps })], noon);
  expect(stateOf(book.run([hold('b', 1n, { caps, user: 'u2' })], noon))).toBe('capped');
  expect(stateOf(book.run([hold('c', 1n, { caps, model: 'm2' })], noon))).toBe('capped');
  expect(stateOf(book.run([hold('d', 5n, { caps, model: 'm2', user: 'u2' })], noon))).toBe('done');
  expect(stateOf(book.run([hold('e', 5n, { caps, key: 'k2', user: 'u3' })], noon))).toBe('done');
});

it('a sum that would exceed int64 fails alone', () => {
  const spent = [{ ...nothingSpent('key:k1'), total: { used: 2n ** 63n - 5n, held: 0n } }, nothingSpent('model:k1/m1'), nothingSpent('user:u1')]; // prettier-ignore
  const head = { ...emptyHead, available: 100n };
  const start = {
    head,
    known: new Map(),
    spent: new Map(spent.map((sums) => [sums.scope, sums])),
    at: noon,
    hash,
  };
  const plan = planBatch([hold('a', 10n, { caps: [] })], start);
  expect(plan.operations).toMatchObject([{ outcome: { state: 'failed' } }]);
  expect(plan.entries).toEqual([]);
});

it('sums that were not read are an error, and never zero', () => {
  const start = {
    head: { ...emptyHead, available: 100n },
    known: new Map(),
    spent: new Map(),
    at: noon,
    hash,
  };
  expect(planBatch([hold('a', 10n)], start).operations).toMatchObject([{ outcome: { state: 'failed' } }]);
});
