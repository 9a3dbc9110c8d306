import { expect, it } from 'vitest';
import { createSightings } from '../../src/process/sightings.ts';

function open() {
  let clock = 7_000_000;
  const sightings = createSightings(() => clock);
  return {
    unchangedMs: (id: string, version: number | string) => sightings.unchangedMs(id, version),
    forgetOthers: () => sightings.forgetOthers(),
    pass: (ms: number) => void (clock += ms),
  };
}

it('counts from the first sighting, by the observer’s clock', () => {
  const { unchangedMs, forgetOthers, pass } = open();
  expect(unchangedMs('a', 1)).toBe(0);
  for (const at of [1_000, 2_000]) {
    forgetOthers();
    pass(1_000);
    expect(unchangedMs('a', 1)).toBe(at);
  }
  expect(unchangedMs('a', 1)).toBe(2_000);
});

it('starts again with each change, even if it changes back', () => {
  const { unchangedMs, forgetOthers, pass } = open();
  unchangedMs('a', 1);
  forgetOthers();
  pass(9_000);
  for (const version of [2, 1, 'x']) {
    expect(unchangedMs('a', version)).toBe(0);
    pass(500);
    expect(unchangedMs('a', version)).toBe(500);
  }
});

it('forgets an item that was not seen in a whole round', () => {
  const { unchangedMs, forgetOthers, pass } = open();
  unchangedMs('gone', 1);
  unchangedMs('here', 1);
  forgetOthers();
  pass(1_000);
  unchangedMs('here', 1);
  forgetOthers();
  pass(1_000);
  expect([unchangedMs('gone', 1), unchangedMs('here', 1)]).toEqual([0, 2_000]);
});
