import fc from 'fast-check';
import { expect, it } from 'vitest';
import { countAhead, fairOrder, modelInTurn, urgencyKey } from '../../src/task/fair-order.ts';
import type { OrderedTask } from '../../src/task/fair-order.ts';

const task = (id: string, more: Partial<OrderedTask> = {}): OrderedTask => ({
  id,
  account: 'a',
  model: 'm',
  deadlineAt: 1_000,
  createdAt: 100,
  wasLost: false,
  ...more,
});

const idsOf = (tasks: readonly OrderedTask[]) => fairOrder(tasks).map(({ id }) => id);

it('within an account and model, the earliest deadline comes first, then the oldest task', () => {
  const tasks = [
    task('young', { createdAt: 101 }),
    task('old'),
    task('soon', { deadlineAt: 999, createdAt: 102 }),
  ];
  expect(idsOf(tasks)).toEqual(['soon', 'old', 'young']);
});

it('a lost task comes after all others, however urgent it is', () => {
  expect(idsOf([task('lost', { wasLost: true, deadlineAt: 1 }), task('b'), task('c', { account: 'c' })])).toEqual([
    'b', 'c', 'lost',
  ]); // prettier-ignore
});

it('a burst of one account does not delay another account, nor does one model delay another', () => {
  const burst = Array.from({ length: 50 }, (_, n) => task(`burst-${n + 10}`));
  const others = [
    task('model', { model: 'n', createdAt: 900 }),
    task('account', { account: 'b', createdAt: 900 }),
  ];
  expect(idsOf([...burst, ...others]).slice(0, 3)).toEqual(['burst-10', 'account', 'model']);
});

const some = fc.array(
  fc.record({
    id: fc.uuid(),
    account: fc.constantFrom('a', 'b', 'c'),
    model: fc.constantFrom('m', 'n'),
    deadlineAt: fc.nat(5),
    createdAt: fc.nat(5),
    wasLost: fc.boolean(),
  }),
  { maxLength: 40 },
);

it('contains each task once, and no account has two turns while another one waits', () => {
  fc.assert(
    fc.property(some, (tasks) => {
      const order = fairOrder(tasks);
      expect(new Set(order)).toEqual(new Set(tasks));
      expect(order.length).toBe(tasks.length);
      const fresh = order.filter(({ wasLost }) => !wasLost);
      expect(order.slice(0, fresh.length)).toEqual(fresh);
      for (const [n, { account }] of fresh.entries()) {
        const before = fresh.slice(0, n).filter((one) => one.account === account).length;
        for (const other of fresh.slice(n + 1)) {
          const turns = fresh.slice(0, n).filter((one) => one.account === other.account).length;
          if (other.account !== account) expect(before).toBeLessThanOrEqual(turns);
        }
      }
    }),
  );
});

const never = { account: () => 0, model: () => 0 };

it('countAhead agrees with the position in fairOrder', () => {
  fc.assert(
    fc.property(some, (tasks) => {
      const places = tasks.map((one) => countAhead(one, tasks, never));
      expect(places).toEqual(tasks.map((one) => fairOrder(tasks).indexOf(one)));
    }),
  );
});

it('the least recently served account and model come next', () => {
  const urgent = [task('u1', { deadlineAt: 1 }), task('u2', { deadlineAt: 2, model: 'n' })];
  const other = task('b', { account: 'b' });
  const served = {
    account: (account: string) => (account === 'a' ? 1 : 0),
    model: (_: string, model: string) => (model === 'm' ? 1 : 0),
  };
  const tasks = [...urgent, other];
  expect(tasks.map((one) => countAhead(one, tasks, never))).toEqual([0, 2, 1]);
  expect(tasks.map((one) => countAhead(one, tasks, served))).toEqual([2, 1, 0]);
});

it('the key of a task sorts in the same order', () => {
  fc.assert(
    fc.property(some, (tasks) => {
      const alike = tasks.map((one) => ({ ...one, account: 'a', model: 'm' }));
      const sorted = alike.map((one) => urgencyKey(one)).toSorted();
      expect(fairOrder(alike).map((one) => urgencyKey(one))).toEqual(sorted);
    }),
  );
});

it('the model that was served longest ago comes next', () => {
  const served: Readonly<Record<string, number>> = { a: 3, b: 1 };
  const servedAt = (model: string) => served[model] ?? 0;
  expect(modelInTurn(['a', 'b', 'c'], servedAt)).toBe('c');
  expect(modelInTurn(['a', 'b'], servedAt)).toBe('b');
  expect(modelInTurn([], servedAt)).toBeUndefined();
});
