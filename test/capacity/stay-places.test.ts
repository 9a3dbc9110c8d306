import { expect, it } from 'vitest';
import { createStayPlaces } from '../../src/capacity/stay-places.ts';

it('gives each queue its places, and each place again', () => {
  const places = createStayPlaces(() => 1);
  const first = places.enter('ark', 'a');
  expect(first).toBeDefined();
  expect(places.enter('ark', 'b')).toBeUndefined();
  expect([places.isFull('ark'), places.isFull('kling')]).toEqual([true, false]);
  expect(places.enter('kling', 'c')).toBeDefined();
  first?.leave();
  expect(places.enter('ark', 'b')).toBeDefined();
});

it('ends every stay when the worker shuts down, and lets nobody in any more', () => {
  const places = createStayPlaces(() => 2);
  const [staying, gone] = [places.enter('ark', 'b'), places.enter('ark', 'b')];
  gone?.leave();
  places.close();
  expect([staying?.ending.aborted, gone?.ending.aborted]).toEqual([true, false]);
  expect(staying?.endedBy()).toBe('closed');
  expect(places.enter('ark', 'b')).toBeUndefined();
});

it('ends the stay of one task, in whatever queue it is', () => {
  const places = createStayPlaces(() => 2);
  expect(places.isEmpty()).toBe(true);
  const [meant, other] = [places.enter('ark', 'a'), places.enter('kling', 'b')];
  expect(places.isEmpty()).toBe(false);
  places.wake('a');
  places.wake('nobody');
  expect([meant?.endedBy(), other?.endedBy()]).toEqual(['woken', undefined]);
  expect([meant?.ending.aborted, other?.ending.aborted]).toEqual([true, false]);
});
