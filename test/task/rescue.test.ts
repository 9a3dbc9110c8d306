import { describe, expect, it } from 'vitest';
import { failureClasses, type FailureClass } from '../../src/errors/failure.ts';
import type { Attempt } from '../../src/task/attempt.ts';
import { isUnbilled, type Fallback } from '../../src/task/rescue.ts';
import { replacements } from '../../src/task/rounds.ts';
import { newTask, on, start } from '../support/task-model.ts';

const fallback: Fallback = {
  candidates: [on('one'), on('two'), on('two', 'b')],
  on: ['capacity', 'internal'],
  neededSeconds: 60,
};

interface FailedTask {
  readonly plan?: Fallback;
  readonly name?: FailureClass;
  readonly failedOn?: readonly string[];
  readonly remainingMs?: number;
}

function rescuedTo({ plan = fallback, name = 'internal', failedOn = [], remainingMs = 60_000 }: FailedTask) {
  const attempts = failedOn.map((channel, index): Attempt => {
    const n = index + 1;
    return { ...on(channel, 'c'), n, state: 'failed', marker: `m-${n}`, owner: 'o', startedAt: start };
  });
  return replacements({ ...newTask(['a'], plan), attempts, deadlineAt: start + remainingMs }, name, start);
}

describe('a failed job', () => {
  it.each([
    ['its vendor promises to charge nothing', { unbilled: true }, true],
    ['nobody knows', {}, false],
    ['its answer reports a cost of zero', { cost: { amount: '0.000', unit: 'USD' } }, true],
    ['its answer reports a cost', { cost: { amount: '0.010', unit: 'USD' } }, false],
    ['its answer contradicts the promise', { unbilled: true, cost: { amount: '5', unit: 'credits' } }, false],
  ] as const)('counts as unbilled or not if %s', (_, job, expected) => {
    expect(isUnbilled(job)).toBe(expected);
  });

  it('moves to the channels of the fallback in their order', () => {
    expect(rescuedTo({})).toEqual(fallback.candidates);
  });

  it.each(failureClasses)('with the class %s moves there only if it is listed', (name) => {
    const expected = fallback.on.includes(name) ? 3 : 0;
    expect(rescuedTo({ name })).toHaveLength(expected);
    expect(rescuedTo({ plan: { ...fallback, on: [name] }, name })).toHaveLength(3);
  });

  it('is not moved to a channel where one has failed already, with any credential', () => {
    expect(rescuedTo({ failedOn: ['two'] })).toEqual([on('one')]);
    expect(rescuedTo({ failedOn: ['one', 'two'] })).toEqual([]);
  });

  it('is not replaced if another job would not finish in time', () => {
    expect(rescuedTo({ remainingMs: 59_999 })).toEqual([]);
  });
});
