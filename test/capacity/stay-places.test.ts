import { expect, it } from 'vitest';
import { createStayPlaces } from '../../src/capacity/stay-places.ts';

it('gives each queue its places, and each place again', () => {
  const places = createStayPlaces(() => 1);
  const first = places.enter('ark');
  expect(first).toBeDefined();
  expect(places.enter('ark')).toBeUndefined();
  expect([places.isFull('ark'), places.isFull('kling')]).toEqual([true, false]);
  expect(places.enter('kling')).toBeDefined();
  first?.leave();
  expect(places.enter('ark')).toBeDefined();
});

it('ends every stay when the worker shuts down, and lets nobody in any more', () => {
  const places = createStayPlaces(() => 2);
  const [staying, gone] = [places.enter('ark'), places.enter('ark')];
  gone?.leave();
  places.close();
  expect([staying?.closing.aborted, gone?.closing.aborted]).toEqual([true, false]);
  expect(places.enter('ark')).toBeUndefined();
});
