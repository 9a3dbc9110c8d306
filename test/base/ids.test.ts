import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { markerOf, markerPattern, newTaskId } from '../../src/base/ids.ts';

it('a marker contains only what the strictest upstream accepts as a label, whatever the id', () => {
  const markers = Array.from({ length: 500 }, () => markerOf({ task: newTaskId(randomBytes), n: 12 }));
  for (const marker of markers) {
    expect(marker).toMatch(/^[a-z][a-z0-9-]{0,62}$/);
    expect(marker).toMatch(markerPattern);
  }
  expect(new Set(markers).size).toBe(500);
});
