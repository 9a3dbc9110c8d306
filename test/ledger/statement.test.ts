import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findBalanceBefore } from '../../src/ledger/balance-before.ts';
import type { LedgerCollection } from '../../src/ledger/collection.ts';
import type { LedgerEntry } from '../../src/ledger/entry.ts';
import { openStatement } from '../../src/ledger/statement.ts';

function bookOf(times: readonly number[]) {
  const entries = times.map((at, n) => {
    const seq = BigInt(n) + 1n;
    return { _id: `a/${seq}`, account: 'a', seq, kind: 'credit', amount: 1n, available: seq, held: 0n, at };
  });
  const book = { reads: 0 };
  const find = ({ _id: { $in } }: { _id: { $in: readonly string[] } }) => ({
    maxTimeMS: () => ({
      toArray: () => {
        book.reads += 1;
        return Promise.resolve(entries.filter(({ _id }) => $in.includes(_id)));
      },
    }),
  });
  return { book, collection: { find } as unknown as LedgerCollection };
}

it('the balance before a time is that after the last entry before it', async () => {
  const times = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 200 });
  await fc.assert(
    fc.asyncProperty(times, fc.integer({ min: 0, max: 51 }), async (unsorted, time) => {
      const sorted = unsorted.toSorted((a, b) => a - b);
      const { collection } = bookOf(sorted);
      const count = BigInt(sorted.filter((at) => at < time).length);
      const found = await findBalanceBefore(collection, { account: 'a', last: BigInt(sorted.length), time });
      expect(found).toEqual({ available: count, held: 0n, seq: count });
    }),
  );
});

it('is found in three reads among 2,000 entries', async () => {
  const { book, collection } = bookOf(Array.from({ length: 2_000 }, (_, n) => n));
  await findBalanceBefore(collection, { account: 'a', last: 2_000n, time: 777 });
  expect(book.reads).toBeLessThanOrEqual(3);
});

it('a missing entry is an error, and never leads to a different balance', async () => {
  const { collection } = bookOf([1, 2, 3]);
  await expect(findBalanceBefore(collection, { account: 'a', last: 4n, time: 9 })).rejects.toThrow('missing');
});

it('reads a page only when it is requested, and the last page ends with the closing balance', async () => {
  const limits: number[] = [];
  const ledger = {
    balanceBefore: (_: string, time: number) =>
      Promise.resolve({ available: 0n, held: 0n, seq: BigInt(time) }),
    entries: (_: string, { after = 0n, limit }: { after?: bigint; limit: number }) => {
      limits.push(limit);
      const entries = Array.from({ length: limit }, (__, n) => ({
        seq: after + BigInt(n) + 1n,
        amount: 1n,
        available: 0n,
      }));
      return Promise.resolve(entries as unknown as LedgerEntry[]);
    },
  };
  const statement = await openStatement(ledger, 'a', { from: 3, before: 503 });
  const pages = statement.pages()[Symbol.asyncIterator]();
  const first = await pages.next();
  expect([first.value.length, limits]).toEqual([200, [200]]);
  await pages.next();
  const last = await pages.next();
  expect(last.value.at(-1).seq).toBe(503n);
  expect(limits).toEqual([200, 200, 100]);
  expect((await pages.next()).done).toBe(true);
});
