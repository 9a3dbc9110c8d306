import { expect, it } from 'vitest';
import type { Attempt } from '../../src/task/attempt.ts';
import { expectedBill, type BilledTask } from '../../src/bills/expected-bill.ts';

const attempt = (n: number, state: Attempt['state']): Attempt => ({
  n,
  state,
  channel: 'main',
  credential: 'a',
  marker: `m-${n}`,
  owner: 'run',
  startedAt: 1,
  operation: { id: `job-${n}` },
});
const [failed, last] = [attempt(1, 'failed'), attempt(2, 'accepted')];
const task: BilledTask = {
  id: 'task_1',
  account: 'acme',
  model: 'clip',
  output: '720p/5',
  status: 'succeeded',
  attempts: [failed, last],
  state: { at: 'ended' },
  outcome: { kind: 'succeeded', cost: { amount: '12', unit: 'credits' } },
};

it('the upstream’s own figure comes first, for the job that ended the task', () => {
  expect(expectedBill(task, last, 'USD')).toEqual([{ by: 'upstream', amount: '12', unit: 'credits' }]);
  expect(expectedBill({ ...task, outcome: { kind: 'succeeded' } }, last, 'USD')).toEqual([]);
});

it('the result of the frozen rules follows, as far as it is known', () => {
  const { outcome: _outcome, ...silent } = task;
  const due = (change: Partial<BilledTask>) => expectedBill({ ...silent, ...change }, last, 'USD');
  const rules = (amount: string) => [{ by: 'rules', amount, unit: 'USD' }];
  expect(due({ cost: 350_000n })).toEqual(rules('0.350000'));
  expect(due({ cost: 0n })).toEqual(rules('0.000000'));
  expect(due({ cost: 350_000n, costUnknown: 1 })).toEqual(rules('0.350000'));
  expect(due({ cost: 0n, costUnknown: 2 })).toEqual([]);
  expect(expectedBill({ ...task, cost: 1n }, last, 'USD').map(({ by }) => by)).toEqual(['upstream', 'rules']);
});

it('a job that was replaced is not billed', () => {
  expect(expectedBill(task, failed, 'USD')).toEqual([{ by: 'rules', amount: '0.000000', unit: 'USD' }]);
});
