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

it('of a submission that was accepted as the job of another task says so, and not that its response was lost', () => {
  const { what, attention, advice, actions } = situation({
    id: 'task_1',
    state: { at: 'lost', n: 1, code: 'upstream_id_taken', asked: true, taken: true },
    deadlineAt: 0,
  });
  expect(attention).toBe('upstream_id_taken');
  expect(what).toContain('named a job that another task has');
  expect(advice).toContain('accepted the submission');
  expect(actions.map(({ name }) => name)).toEqual(['adopt', 'resubmit', 'complete', 'fail']);
});
