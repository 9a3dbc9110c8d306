import { expect, it } from 'vitest';
import { createCircuitWakes } from '../../src/capacity/circuit-wakes.ts';
import { placeOf } from '../../src/health/circuit-rules.ts';

const task = (id: string, account = 'a') => ({
  id,
  account,
  model: 'm',
  deadlineAt: 1,
  createdAt: 1,
  wasLost: false,
});

it('when a circuit has closed, the tasks that wait for it are woken once each, in fair order', async () => {
  const woken: string[] = [];
  const asked: unknown[] = [];
  const closed = createCircuitWakes({
    list: async (place) => {
      asked.push(place);
      return [task('a1'), task('a2'), task('b1', 'b')];
    },
    wake: async (id) => void woken.push(id),
    isOpen: () => false,
    settleMs: 0,
    onError: () => expect.unreachable(),
  });
  await Promise.all([closed('one/key/m'), closed('one/key/m')]);
  expect(woken).toEqual(['a1', 'b1', 'a2']);
  expect(asked).toEqual([{ channel: 'one', credential: 'key', model: 'm', from: 0 }]);
});

it('no task is listed before other processes have read that the circuit closed', async () => {
  const asked: unknown[] = [];
  const closed = createCircuitWakes({
    list: async (place) => {
      asked.push(place);
      return [];
    },
    wake: () => Promise.resolve(),
    isOpen: () => false,
    settleMs: 1,
    onError: () => expect.unreachable(),
  })('one/key');
  expect(asked).toEqual([]);
  await closed;
  expect(asked).toHaveLength(1);
});

it('wakes all waiting tasks, even if none of them has left the list yet', async () => {
  const woken = new Set<string>();
  const many = Array.from({ length: 1_050 }, (_, n) => ({ ...task(`t${n}`), deadlineAt: n }));
  await createCircuitWakes({
    list: async ({ from }, limit) => many.filter(({ deadlineAt }) => deadlineAt >= from).slice(0, limit),
    wake: async (id) => void woken.add(id),
    isOpen: () => false,
    settleMs: 0,
    onError: () => expect.unreachable(),
  })('one/key');
  expect(woken.size).toBe(1_050);
});

it('stops waking tasks once the circuit has reopened, and reports a list that fails', async () => {
  const woken: string[] = [];
  const errors: unknown[] = [];
  const many = Array.from({ length: 25 }, (_, n) => task(`t${n + 10}`));
  const deps = {
    wake: async (id: string) => void woken.push(id),
    isOpen: () => woken.length >= 10,
    settleMs: 0,
    onError: (error: unknown) => void errors.push(error),
  };
  await createCircuitWakes({ ...deps, list: async () => many })('one/key');
  expect(woken).toHaveLength(10);
  await createCircuitWakes({ ...deps, list: () => Promise.reject(new Error('away')) })('one/key');
  expect(errors).toEqual([new Error('away')]);
});

it('reads the channel and credential from a circuit’s id, whatever the model is called', () => {
  expect(placeOf('one/key')).toEqual({ channel: 'one', credential: 'key' });
  expect(placeOf('one/key/a/b')).toEqual({ channel: 'one', credential: 'key', model: 'a/b' });
});
