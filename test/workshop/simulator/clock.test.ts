import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Clock } from '../../../workshop/simulator/clock.ts';

describe('the clock', () => {
  it('runs due entries in the order of their times, whatever the order of their requests', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { maxLength: 60 }), fc.nat(1000), (times, until) => {
        const clock = new Clock(() => 0);
        const ran: number[] = [];
        for (const due of times) clock.at(due, () => ran.push(due));
        clock.advance(until);
        const due = times.filter((time) => time <= until).toSorted((a, b) => a - b);
        expect(ran).toEqual(due);
        clock.advance(2000);
        expect(ran).toEqual(times.toSorted((a, b) => a - b));
        clock.close();
      }),
    );
  });

  it('runs entries that are added while it runs', () => {
    const clock = new Clock(() => 0);
    const ran: string[] = [];
    clock.at(10, () => {
      ran.push('first');
      clock.at(5, () => ran.push('second'));
    });
    clock.advance(10);
    expect(ran).toEqual(['first', 'second']);
  });

  it('notices that an injected clock has jumped', async () => {
    let now = 0;
    const clock = new Clock(() => now);
    const ran = new Promise<void>((resolve) => {
      clock.at(3_600_000, resolve);
    });
    now = 3_600_000;
    await ran;
    expect(clock.now()).toBe(3_600_000);
    clock.close();
  });

  it('runs nothing after it was closed', () => {
    const clock = new Clock(() => 0);
    let ran = 0;
    clock.at(1, () => (ran += 1));
    clock.close();
    clock.advance(10);
    expect(ran).toBe(0);
  });
});
