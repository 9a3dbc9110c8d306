import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isFinal, momentOf, nextChangeAt } from '../../../workshop/simulator/task.ts';
import type { Task } from '../../../workshop/simulator/task.ts';

const task = (more: Partial<Task<null>> = {}): Task<null> => ({
  id: 't',
  model: 'm',
  prompt: '',
  createdAt: 1000,
  queueMs: 100,
  renderMs: 800,
  expiresAfterMs: 10_000,
  detail: null,
  ...more,
});

const phaseAt = (subject: Task<null>, now: number): string => momentOf(subject, now).phase;

describe('the phase of a task', () => {
  it('changes exactly at its times', () => {
    expect([1000, 1099, 1100, 1899, 1900].map((now) => phaseAt(task(), now))).toEqual([
      'queued', 'queued', 'running', 'running', 'succeeded',
    ]); // prettier-ignore
  });

  it('is final at once without a render time', () => {
    expect(phaseAt(task({ queueMs: 0, renderMs: 0 }), 1000)).toBe('succeeded');
  });

  it('is expired only where the end would come later', () => {
    expect(phaseAt(task({ renderMs: 20_000 }), 11_000)).toBe('expired');
    expect(phaseAt(task({ renderMs: 9900 }), 11_000)).toBe('succeeded');
  });

  it('is cancelled for good', () => {
    expect(momentOf(task({ cancelledAt: 1050 }), 5000)).toEqual({ phase: 'cancelled', since: 1050 });
  });

  it('goes only forward, and stays where it ended, without a fault', () => {
    const order = ['queued', 'running', 'succeeded', 'failed', 'expired'];
    const faults = fc.constantFrom(
      undefined,
      ['failed'],
      ['never-finishes'],
      ['never-starts'],
      ['missing-usage'],
    );
    fc.assert(
      fc.property(
        fc.nat(5000),
        fc.nat(5000),
        fc.nat(12_000),
        faults,
        (queueMs, renderMs, expiresAfterMs, marks) => {
          const subject = task({ queueMs, renderMs, expiresAfterMs, faults: marks });
          let last = 0;
          for (let now = 1000; now < 14_000; now += 130) {
            const rank = order.indexOf(phaseAt(subject, now));
            expect(rank).toBeGreaterThanOrEqual(last);
            last = rank;
          }
        },
      ),
    );
  });

  it('since is never in the future and never before the creation', () => {
    fc.assert(
      fc.property(fc.nat(5000), fc.nat(5000), fc.nat(12_000), (queueMs, renderMs, elapsed) => {
        const { since } = momentOf(task({ queueMs, renderMs }), 1000 + elapsed);
        expect(since).toBeGreaterThanOrEqual(1000);
        expect(since).toBeLessThanOrEqual(1000 + elapsed);
      }),
    );
  });
});

describe('the next change', () => {
  it('is where the phase differs, until it is final', () => {
    const faults = fc.constantFrom(undefined, ['failed'], ['never-finishes'], ['never-starts']);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5000 }),
        fc.integer({ min: 1, max: 5000 }),
        faults,
        (queueMs, renderMs, marks) => {
          const subject = task({ queueMs, renderMs, faults: marks, expiresAfterMs: 8000 });
          let now = 1000;
          for (let changes = 0; changes < 4; changes += 1) {
            const at = nextChangeAt(subject, now);
            if (at === undefined) break;
            expect(phaseAt(subject, at - 1)).toBe(phaseAt(subject, now));
            expect(phaseAt(subject, at)).not.toBe(phaseAt(subject, now));
            now = at;
          }
          expect(isFinal(momentOf(subject, now).phase)).toBe(true);
        },
      ),
    );
  });

  it('is none for a cancelled task', () => {
    expect(nextChangeAt(task({ cancelledAt: 1 }), 2000)).toBeUndefined();
  });
});
