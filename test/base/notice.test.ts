import { describe, expect, it } from 'vitest';
import { ended, isDue, missed, sighted, type Condition, type Notice } from '../../src/base/notice.ts';

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

function notified(notice: Notice, target = 'pager'): Notice {
  return { ...notice, notified: { ...notice.notified, [target]: notice.revision } };
}

describe('a condition', () => {
  it('that is seen is reported once, however often it is seen', () => {
    const opened = sighted(undefined, condition, 1);
    expect(opened).toMatchObject({ id: 'attention/submit_ambiguous/one', state: 'open', since: 1 });
    expect(isDue(opened, 'pager')).toBe(true);
    const known = notified(opened);
    expect(isDue(known, 'pager')).toBe(false);
    expect(sighted(known, condition, 2)).toBe(known);
    expect(isDue(known, 'another')).toBe(true);
  });

  it('that grows is reported at each power of ten, and not in between', () => {
    let notice = notified(sighted(undefined, condition, 1));
    notice = sighted(notice, { ...condition, count: 9, text: '9 tasks wait.' }, 2);
    expect([isDue(notice, 'pager'), notice.text]).toEqual([false, '9 tasks wait.']);
    notice = sighted(notice, { ...condition, count: 10 }, 3);
    expect(isDue(notice, 'pager')).toBe(true);
  });

  it('that lasts is reported once more after a day', () => {
    const notice = notified(sighted(undefined, condition, 0));
    expect(isDue(sighted(notice, condition, day - 1), 'pager')).toBe(false);
    expect(isDue(sighted(notice, condition, day), 'pager')).toBe(true);
  });

  it('that is absent for eight checks is over, and its end is reported', () => {
    const opened = notified(sighted(undefined, condition, 1));
    expect(times(7, opened).state).toBe('open');
    const over = times(8, opened);
    expect(over).toMatchObject({ state: 'over', since: 1, endedAt: 2 });
    expect(isDue(over, 'pager')).toBe(true);
    expect(missed(over, 3)).toBe(over);
  });

  it('that comes and goes within eight checks is the same one', () => {
    const opened = notified(sighted(undefined, condition, 1));
    const again = sighted(times(7, opened), condition, 3);
    expect(again).toMatchObject({ state: 'open', since: 1, missed: 0, revision: opened.revision });
    expect(times(7, again).state).toBe('open');
  });

  it('that comes back is a new one', () => {
    const over = notified(times(8, notified(sighted(undefined, condition, 1))));
    const back = sighted(over, condition, 5);
    expect(back).toMatchObject({ state: 'open', since: 5 });
    expect(back.endedAt).toBeUndefined();
    expect(isDue(back, 'pager')).toBe(true);
  });
});

it('a target that did not learn of the beginning is not notified of the end', () => {
  const over = ended(notified(sighted(undefined, condition, 1)), 2);
  expect([isDue(over, 'pager'), isDue(over, 'another')]).toEqual([true, false]);
  const unheard = ended(sighted(notified(over), condition, 3), 4);
  expect(isDue(unheard, 'pager')).toBe(false);
});
