import { expect, it } from 'vitest';
import { situation } from '../../src/domain/situation.ts';

it('of a task that has ended and was not delivered suggests another callback, or a refund', () => {
  const { name, attention, advice, actions } = situation({
    id: 'task_1',
    state: { at: 'ended' },
    deadlineAt: 0,
    concern: 'not_delivered',
  });
  expect([name, attention]).toEqual(['ended', 'not_delivered']);
  expect(advice).toContain('`refund`');
  expect(actions).toEqual([
    { name: 'redeliver', command: 'gateway tasks action task_1 redeliver --reason "…"' },
    { name: 'refund', command: 'gateway tasks action task_1 refund --reason "…"' },
  ]);
});
