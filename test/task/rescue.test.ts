import { describe, expect, it } from 'vitest';
import { failureClasses } from '../../src/errors/failure.ts';
import { isUnbilled, rescueCandidates } from '../../src/task/rescue.ts';
import type { Fallback } from '../../src/task/rescue.ts';

const at = (channel: string, credential = 'a') => ({ channel, credential });
const fallback: Fallback = {
  candidates: [at('one'), at('two'), at('two', 'b')],
  on: ['capacity', 'internal'],
  neededSeconds: 60,
};
const failed = { class: 'internal', channels: [], remainingMs: 60_000 } as const;

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

  it('goes to the channels of the fallback in their order', () => {
    expect(rescueCandidates(fallback, failed)).toEqual(fallback.candidates);
  });

  it.each(failureClasses)('with the class %s goes there only if it is listed', (name) => {
    const expected = fallback.on.includes(name) ? 3 : 0;
    expect(rescueCandidates(fallback, { ...failed, class: name })).toHaveLength(expected);
    expect(rescueCandidates({ ...fallback, on: [name] }, { ...failed, class: name })).toHaveLength(3);
  });

  it('is not moved to a channel where one has failed already, with whatever credential', () => {
    expect(rescueCandidates(fallback, { ...failed, channels: ['two'] })).toEqual([at('one')]);
    expect(rescueCandidates(fallback, { ...failed, channels: ['one', 'two'] })).toEqual([]);
  });

  it('is not replaced if another one would not be ready in time', () => {
    expect(rescueCandidates(fallback, { ...failed, remainingMs: 59_999 })).toEqual([]);
  });
});
