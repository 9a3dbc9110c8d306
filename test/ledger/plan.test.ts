import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defined } from '../../src/base/defined.ts';
import { amountMax } from '../../src/money/money.ts';
import { chainEntry, createEntryHash, emptyHead, keys } from '../../src/ledger/entry.ts';
import type { EntryDocument, Head } from '../../src/ledger/entry.ts';
import { LedgerIntegrityError } from '../../src/ledger/ledger-errors.ts';
import {
  creditOperation,
  holdOperation,
  refundOperation,
  releaseOperation,
  settleOperation,
  voidOperation,
} from '../../src/ledger/operation.ts';
import type { Operation } from '../../src/ledger/operation.ts';
import { allKeys, planBatch, scopesOfBatch, type Outcome } from '../../src/ledger/plan.ts';
import { testLedgerKey } from '../support/sealing.ts';
import { nothingSpent } from '../../src/ledger/spent.ts';

const account = 'acct';
const hash = createEntryHash(testLedgerKey);
const overdraftLimit = 50n;
const heldFor = (task: string) => BigInt(10 * Number(task.slice(1)) + 5);

const task = fc.nat({ max: 4 }).map((n) => `t${n}`);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 4,
    arbitrary: task.map((id) =>
      holdOperation({
        account,
        task: id,
        by: { key: 'key_1', model: 'video-1' },
        amount: heldFor(id),
        basis: '{}',
        overdraftLimit,
      }),
    ),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(task, fc.bigInt({ min: 0n, max: 120n }))
      .map(([id, amount]) => settleOperation({ account, task: id, held: heldFor(id), amount })),
  },
  {
    weight: 2,
    arbitrary: task.map((id) => releaseOperation({ account, task: id, held: heldFor(id) })),
  },
  { weight: 2, arbitrary: task.map((id) => voidOperation({ account, task: id })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(task, fc.bigInt({ min: 1n, max: 130n }))
      .map(([id, amount]) => refundOperation({ account, task: id, amount })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.nat({ max: 3 }),
        fc.bigInt({ min: -60n, max: 200n }).filter((value) => value !== 0n),
      )
      .map(([n, amount]) => creditOperation({ account, amount, reference: `payment ${n}` })),
  },
);

const nothing = new Map(['key:key_1', 'model:key_1/video-1'].map((scope) => [scope, nothingSpent(scope)]));

function openBook() {
  const entries: EntryDocument[] = [];
  return {
    entries,
    run(
      operations: readonly Operation[],
      { kept = Number.POSITIVE_INFINITY, at = 0 } = {},
    ): readonly Outcome[] {
      const wanted = new Set(operations.flatMap(allKeys));
      const known = new Map(entries.filter(({ key }) => wanted.has(key)).map((entry) => [entry.key, entry]));
      const head: Head = entries.at(-1) ?? emptyHead;
      const sums = new Map(entries.flatMap(({ spent }) => spent ?? []).map((spent) => [spent.scope, spent]));
      const scopes = [...scopesOfBatch(operations, known)];
      const spent = new Map(scopes.map((scope) => [scope, sums.get(scope) ?? nothingSpent(scope)]));
      const plan = planBatch(operations, { head, known, spent, at, hash });
      entries.push(...plan.entries.slice(0, kept));
      return plan.operations.map(({ outcome }) => outcome);
    },
  };
}

const factsOf = (entries: readonly EntryDocument[]) =>
  entries.map(({ key, kind, amount, available, held, excess }) => ({
    key, kind, amount, available, held, excess,
  })); // prettier-ignore

function sumOf(entries: readonly EntryDocument[], ...kinds: EntryDocument['kind'][]): bigint {
  return entries.filter(({ kind }) => kinds.includes(kind)).reduce((sum, { amount }) => sum + amount, 0n);
}

function expectSound(entries: readonly EntryDocument[]): void {
  expect(new Set(entries.map(({ key }) => key)).size).toBe(entries.length);
  entries.forEach(({ seq, prev_hash: previous }, n) => {
    expect(seq).toBe(BigInt(n + 1));
    expect(previous).toBe((entries[n - 1] ?? emptyHead).hash);
  });
  const has = (key: string) => entries.some((entry) => entry.key === key);
  const open = entries.filter((entry) => entry.kind === 'hold' && !has(keys.close(entry.task ?? '')));
  const last = entries.at(-1) ?? emptyHead;
  expect(last.held).toBe(sumOf(open, 'hold'));
  expect(last.available + last.held).toBe(
    sumOf(entries, 'credit', 'adjust', 'refund') - sumOf(entries, 'settle', 'charge_extra'),
  );
  for (const entry of entries) {
    if (entry.kind === 'hold') expect(entry.available).toBeGreaterThanOrEqual(-overdraftLimit);
    if (entry.kind === 'settle') {
      const extra = entries.find(({ key }) => key === keys.chargeExtra(entry.task ?? ''));
      expect(extra?.amount).toBe(entry.excess);
    }
    if (entry.kind === 'refund') {
      const settle = entries.find(({ key }) => key === keys.close(entry.task ?? ''));
      expect(settle?.kind).toBe('settle');
      expect(entry.amount).toBeLessThanOrEqual((settle?.amount ?? 0n) + (settle?.excess ?? 0n));
    }
  }
}

describe('any history of operations', () => {
  it('adds up, and gives the same result however it is split into batches', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(operation, fc.boolean()), { maxLength: 40 }), (steps) => {
        const alone = openBook();
        const together = openBook();
        const batch: Operation[] = [];
        const outcomes: Outcome[] = [];
        const aloneOutcomes = steps.flatMap(([step]) => alone.run([step]));
        for (const [step, ends] of steps) {
          batch.push(step);
          if (ends) outcomes.push(...together.run(batch.splice(0)));
        }
        outcomes.push(...together.run(batch));
        expect(factsOf(together.entries)).toEqual(factsOf(alone.entries));
        expect(outcomes).toEqual(aloneOutcomes);
        expectSound(alone.entries);
      }),
    );
  });

  it('adds up if it is repeated after the server died halfway, and the missing part is completed', () => {
    fc.assert(
      fc.property(
        fc.array(operation, { minLength: 1, maxLength: 20 }),
        fc.nat({ max: 20 }),
        (operations, kept) => {
          const book = openBook();
          book.run(operations, { kept });
          const left = [...book.entries];
          const outcomes = book.run(operations);
          expectSound(book.entries);
          expect(book.entries.slice(0, left.length)).toEqual(left);
          for (const outcome of outcomes) {
            if (outcome.state === 'done') expect(book.entries).toContainEqual(outcome.entry);
          }
        },
      ),
    );
  });

  it('never holds for a voided task, and never adds to a closed one', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 40 }), (operations) => {
        const book = openBook();
        for (const step of operations) {
          const id = 'task' in step ? step.task : undefined;
          const own = book.entries.filter((entry) => id !== undefined && entry.task === id);
          const isVoided = own.some(({ kind }) => kind === 'void');
          const isClosed = own.some(({ key }) => key.endsWith(':close'));
          const before = book.entries.length;
          const [outcome] = book.run([step]);
          const expected = {
            hold: 'voided',
            settle: 'no_hold',
            release: 'no_hold',
            void: 'done',
            refund: 'not_settled',
            credit: 'done',
          };
          expect(outcome?.state).toBe(isVoided ? expected[step.kind] : outcome?.state);
          const isDecided = isVoided || (isClosed && step.kind !== 'refund');
          expect(book.entries).toHaveLength(isDecided ? before : book.entries.length);
        }
      }),
    );
  });
});

describe('an operation that contradicts the ledger', () => {
  const hold = holdOperation({
    account,
    task: 't1',
    by: { key: 'key_1', model: 'video-1' },
    amount: 15n,
    basis: '{}',
    overdraftLimit,
  });
  const settle = { account, task: 't1', held: 15n, amount: 3n };
  const held = chainEntry(
    emptyHead,
    { account, key: keys.hold('t1'), kind: 'hold', task: 't1', amount: 15n, available: -15n, held: 15n },
    { at: 0, hash },
  );

  it.each([
    ['another amount than was held', settleOperation({ ...settle, held: 14n })],
    ['another account', settleOperation({ ...settle, account: 'other' })],
    ['a release of another amount', releaseOperation({ account, task: 't1', held: 16n })],
    ['the hold of another task', settleOperation({ ...settle, task: 't2', hold: { ...held } })],
    ['a hold on another account', { ...hold, account: 'other' }],
    ['a void on another account', voidOperation({ account: 'other', task: 't1' })],
  ])('(%s) fails alone: the others of its batch are carried out', (_, wrong) => {
    const known = new Map([[held.key, held]]);
    const credit = (reference: string) => creditOperation({ account, amount: 7n, reference });
    const plan = planBatch([credit('a'), wrong, credit('b')], {
      head: held,
      known,
      spent: new Map(),
      at: 0,
      hash,
    });
    const [first, failed, last] = plan.operations;
    expect(failed?.outcome).toMatchObject({ state: 'failed', error: expect.any(LedgerIntegrityError) });
    expect([first?.outcome.state, last?.outcome.state]).toEqual(['done', 'done']);
    expect(plan.entries.map(({ available }) => available)).toEqual([-8n, -1n]);
    expect(plan.operations.map(({ entriesNeeded }) => entriesNeeded)).toEqual([1, 1, 2]);
  });

  it('a balance that would exceed int64 also fails alone, and adds none of its entries', () => {
    const head: Head = { ...held, available: 2n ** 63n - 5n };
    const known = new Map([[held.key, held]]);
    const credit = creditOperation({ account, amount: 5n, reference: 'a' });
    const plan = planBatch([credit, settleOperation(settle)], { head, known, spent: new Map(), at: 0, hash });
    expect(plan.operations.map(({ outcome }) => outcome.state)).toEqual(['refused', 'failed']);
    expect(plan.entries).toEqual([]);
  });
});

it('a settle beyond its hold takes effect with its first entry, and the task’s next operation completes the second', () => {
  const book = openBook();
  book.run([
    holdOperation({
      account,
      task: 't1',
      by: { key: 'key_1', model: 'video-1' },
      amount: 15n,
      basis: '{}',
      overdraftLimit,
    }),
  ]);
  const settle = settleOperation({ account, task: 't1', held: 15n, amount: 40n });
  book.run([settle], { kept: 1 });
  expect(book.entries.map(({ kind, excess }) => [kind, excess])).toEqual([
    ['hold', undefined],
    ['settle', 25n],
  ]);
  const [outcome] = book.run([releaseOperation({ account, task: 't1', held: 15n })]);
  expect(outcome).toMatchObject({ state: 'done', replayed: true, entry: { kind: 'settle', amount: 15n } });
  expect(book.entries.at(-1)).toMatchObject({ kind: 'charge_extra', amount: 25n, available: -40n, held: 0n });
});

it('every entry of a task contains its spender and the day of its hold, whenever it is closed', () => {
  const book = openBook();
  const by = { key: 'key_1', model: 'video-1', endUser: 'Zoë of the shop' };
  const holds = ['t1', 't2', 't3'].map((id) =>
    holdOperation({ account, task: id, by, amount: 15n, basis: '{}', overdraftLimit }),
  );
  const noon = Date.UTC(2026, 10, 30, 12);
  book.run(holds, { at: noon });
  const [first] = book.entries;
  const settle = settleOperation({
    account, task: 't1', held: 15n, amount: 40n, ...defined({ hold: first }),
  }); // prettier-ignore
  const later = [
    settle,
    releaseOperation({ account, task: 't2', held: 15n }),
    voidOperation({ account, task: 't3' }),
    refundOperation({ account, task: 't1', amount: 40n }),
  ];
  book.run(later, { at: noon + 86_400_000 });
  expect(book.entries.map(({ kind }) => kind).slice(3)).toEqual([
    'settle', 'charge_extra', 'release', 'release', 'refund',
  ]); // prettier-ignore
  for (const entry of book.entries) {
    expect(entry).toMatchObject({
      key_id: 'key_1', model: 'video-1', end_user: 'Zoë of the shop', day: '2026-11-30',
    }); // prettier-ignore
  }
});

it('a task’s cost is in the entry that ends it, with its day, and is covered by the hash', () => {
  const book = openBook();
  const by = { key: 'key_1', model: 'video-1' };
  const ids = ['t1', 't2', 't3'];
  book.run(
    ids.map((id) => holdOperation({ account, task: id, by, amount: 15n, basis: '{}', overdraftLimit })),
  );
  const upstream = { model: 'video-1', channel: 'one', cost: 7n, unknown: 1 };
  const ends = [
    settleOperation({ account, task: 't1', held: 15n, amount: 40n, upstream }),
    releaseOperation({ account, task: 't2', held: 15n, upstream }),
    voidOperation({ account, task: 't3', upstream }),
    refundOperation({ account, task: 't1', amount: 1n, upstream: { ...upstream, cost: 0n, unknown: 0 } }),
  ];
  book.run(ends, { at: Date.UTC(2026, 0, 31, 23, 59) });
  const ended = book.entries.filter(({ upstream: of }) => of !== undefined);
  expect(ended.map(({ kind, ended_on: day }) => [kind, day])).toEqual(
    ['settle', 'release', 'release', 'refund'].map((kind) => [kind, '2026-01-31']),
  );
  for (const entry of ended) {
    expect(hash(entry)).toBe(entry.hash);
    const changes = [
      { ended_on: '2026-02-01' },
      ...[{ model: 'm' }, { channel: 'c' }, { cost: 8n }, { unknown: 2 }].map((change) => ({
        upstream: { ...upstream, ...change },
      })),
    ];
    for (const change of changes) expect(hash({ ...entry, ...change })).not.toBe(entry.hash);
  }
  expect(() =>
    releaseOperation({ account, task: 't', held: 1n, upstream: { ...upstream, cost: amountMax + 1n } }),
  ).toThrow(RangeError);
});

it.each(['key_id', 'model', 'end_user', 'day'] as const)('the hash covers %s', (field) => {
  const book = openBook();
  const by = { key: 'key_1', model: 'video-1', endUser: 'u' };
  book.run([holdOperation({ account, task: 't1', by, amount: 15n, basis: '{}', overdraftLimit })]);
  const [entry] = book.entries;
  if (entry === undefined) throw new Error('nothing was held');
  expect(hash(entry)).toBe(entry.hash);
  expect(hash({ ...entry, [field]: 'another' })).not.toBe(entry.hash);
});

describe('a refund', () => {
  const hold = holdOperation({
    account,
    task: 't1',
    by: { key: 'key_1', model: 'video-1' },
    amount: 15n,
    basis: '{}',
    overdraftLimit,
  });
  const settle = settleOperation({ account, task: 't1', held: 15n, amount: 40n });
  const refund = (amount: bigint, of = account) => refundOperation({ account: of, task: 't1', amount });

  it('of the whole charge takes effect although the second entry is missing, which it completes', () => {
    const book = openBook();
    book.run([hold, settle], { kept: 2 });
    expect(book.run([refund(41n)])).toEqual([{ state: 'above_charge', charged: 40n }]);
    expect(book.run([refund(40n)])).toMatchObject([
      { state: 'done', replayed: false, entry: { amount: 40n } },
    ]);
    expect(book.entries.slice(2).map(({ kind, amount, available }) => [kind, amount, available])).toEqual([
      ['refund', 40n, 25n],
      ['charge_extra', 25n, 0n],
    ]);
  });

  it('of another account’s task is refused like one of a task that was never settled', () => {
    const book = openBook();
    book.run([hold, settle]);
    expect(book.run([refund(1n, 'other')])).toEqual([{ state: 'not_settled' }]);
    book.run([refund(1n)]);
    expect(book.run([refund(1n, 'other')])).toEqual([{ state: 'not_settled' }]);
  });

  it('that would exceed int64 fails alone', () => {
    const close = chainEntry(
      emptyHead,
      { account, key: keys.close('t1'), kind: 'settle', task: 't1', amount: 9n, available: 0n, held: 0n },
      { at: 0, hash },
    );
    const head: Head = { ...close, available: 2n ** 63n - 5n };
    const plan = planBatch([refund(9n)], {
      head,
      known: new Map([[close.key, close]]),
      spent: new Map(),
      at: 0,
      hash,
    });
    expect(plan.operations).toMatchObject([{ outcome: { state: 'failed' } }]);
    expect(plan.entries).toEqual([]);
  });
});

it.each([
  { available: 35n, overdraft: 0n, state: 'done' },
  { available: 34n, overdraft: 0n, state: 'refused' },
  { available: -15n, overdraft: 50n, state: 'done' },
  { available: -16n, overdraft: 50n, state: 'refused' },
])('a hold of 35 from $available with an overdraft of $overdraft is $state', (given) => {
  const overdrawn = holdOperation({
    account, task: 't3', by: { key: 'key_1', model: 'video-1' }, amount: 35n, basis: '{}', overdraftLimit: given.overdraft,
  }); // prettier-ignore
  const head: Head = { ...emptyHead, available: given.available };
  const [planned] = planBatch([overdrawn], {
    head,
    known: new Map(),
    spent: nothing,
    at: 0,
    hash,
  }).operations;
  expect(planned?.outcome.state).toBe(given.state);
});

it('a writer whose clock is behind writes no entry before the last one', () => {
  const book = openBook();
  const credit = (reference: string) => creditOperation({ account, amount: 100n, reference });
  book.run([credit('a')], { at: 2_000 });
  book.run([credit('b'), credit('c')], { at: 1_000 });
  book.run([credit('d')], { at: 3_000 });
  expect(book.entries.map(({ at }) => at)).toEqual([2_000, 2_000, 2_000, 3_000]);
});
