import { describe, expect, it } from 'vitest';
import { ended, isDue, missed, sighted } from '../../src/domain/notice.ts';
import type { Condition, Notice } from '../../src/domain/notice.ts';

const condition: Condition = {
  kind: 'attention',
  subject: 'submit_ambiguous/one',
  count: 1,
  text: 'A task waits.',
};
const day = 24 * 60 * 60 * 1000;

function times(count: number, notice: Notice): Notice {
  return count === 0 ? notice : times(count - 1, missed(notice, 2));
}

function told(notice: Notice, target = 'pager'): Notice {
  return { ...notice, told: { ...notice.told, [target]: notice.revision } };
}

describe('a condition', () => {
  it('that is seen is told once, however often it is seen', () => {
    const opened = sighted(undefined, condition, 1);
    expect(opened).toMatchObject({ id: 'attention/submit_ambiguous/one', state: 'open', since: 1 });
    expect(isDue(opened, 'pager')).toBe(true);
    const known = told(opened);
    expect(isDue(known, 'pager')).toBe(false);
    expect(sighted(known, condition, 2)).toBe(known);
    expect(isDue(known, 'another')).toBe(true);
  });

  it('that grows is told again at each power of ten, and not in between', () => {
    let notice = told(sighted(undefined, condition, 1));
    notice = sighted(notice, { ...condition, count: 9, text: '9 tasks wait.' }, 2);
    expect([isDue(notice, 'pager'), notice.text]).toEqual([false, '9 tasks wait.']);
    notice = sighted(notice, { ...condition, count: 10 }, 3);
    expect(isDue(notice, 'pager')).toBe(true);
  });

  it('that lasts is told again after a day', () => {
    const notice = told(sighted(undefined, condition, 0));
    expect(isDue(sighted(notice, condition, day - 1), 'pager')).toBe(false);
    expect(isDue(sighted(notice, condition, day), 'pager')).toBe(true);
  });

  it('that is gone for eight looks is over, and that is told too', () => {
    const opened = told(sighted(undefined, condition, 1));
    expect(times(7, opened).state).toBe('open');
    const over = times(8, opened);
    expect(over).toMatchObject({ state: 'over', since: 1, endedAt: 2 });
    expect(isDue(over, 'pager')).toBe(true);
    expect(missed(over, 3)).toBe(over);
  });

  it('that comes and goes within eight looks is the same one', () => {
    const opened = told(sighted(undefined, condition, 1));
    const again = sighted(times(7, opened), condition, 3);
    expect(again).toMatchObject({ state: 'open', since: 1, missed: 0, revision: opened.revision });
    expect(times(7, again).state).toBe('open');
  });

  it('that comes back is told as a new one', () => {
    const over = told(times(8, told(sighted(undefined, condition, 1))));
    const back = sighted(over, condition, 5);
    expect(back).toMatchObject({ state: 'open', since: 5 });
    expect(back.endedAt).toBeUndefined();
    expect(isDue(back, 'pager')).toBe(true);
  });
});

it('nobody hears the end of what he was not told', () => {
  const over = ended(told(sighted(undefined, condition, 1)), 2);
  expect([isDue(over, 'pager'), isDue(over, 'another')]).toEqual([true, false]);
});
