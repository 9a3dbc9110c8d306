import { expect, it } from 'vitest';
import { createChargeBook } from '../../src/capacity/charge-book.ts';
import { createShapeChargesStore } from '../../src/store/shape-charges.ts';
import { useLedgerWorld } from '../ledger/support.ts';

const world = useLedgerWorld('charge_book');

function openBook() {
  const errors: unknown[] = [];
  const store = createShapeChargesStore(world.db, Date.now);
  return { book: createChargeBook({ store, onError: (error) => errors.push(error) }), errors };
}

it('processes share the charges that they have written, and use the newest 32', async () => {
  const [{ book: one }, { book: two }] = [openBook(), openBook()];
  one.note('shape', 1n);
  one.note('shape', 2n);
  two.note('shape', 9n);
  expect(await one.expected('shape')).toBeUndefined();
  await Promise.all([one.flush(), two.flush()]);
  expect([await one.expected('shape'), await two.expected('shape')]).toEqual([2n, 2n]);
  expect(await one.expected('other')).toBeUndefined();
  for (let n = 0; n < 40; n += 1) one.note('shape', 7n);
  await one.stop();
  expect(await two.expected('shape')).toBe(7n);
  await one.flush();
  const collection = world.db.collection('shape_charges', { readConcern: { level: 'local' } });
  const [stored] = await collection.find().toArray();
  expect(stored?.['charges']).toHaveLength(32);
  expect(JSON.stringify(stored?.['_id'])).not.toContain('shape');
});

it('charges that cannot be written are lost, and only the log shows that', async () => {
  const errors: unknown[] = [];
  const store = { add: () => Promise.reject(new Error('away')), find: async () => [] };
  const book = createChargeBook({ store, onError: (error) => errors.push(error) });
  book.note('shape', 1n);
  await book.flush();
  await book.flush();
  expect(errors).toHaveLength(1);
});
