import { expect, it } from 'vitest';
import { createStayPlaces } from '../../src/capacity/stay-places.ts';

it('gives each queue its places, and each place again', () => {
  const places = createStayPlaces({ placesMax: () => 1, now: Date.now });
  const first = places.enter('ark', 'a');
  expect(first).toBeDefined();
  expect(places.enter('ark', 'b')).toBeUndefined();
  expect([places.isFull('ark'), places.isFull('kling')]).toEqual([true, false]);
  expect(places.enter('kling', 'c')).toBeDefined();
  first?.leave();
  expect(places.enter('ark', 'b')).toBeDefined();
});

it('ends every stay when the worker shuts down, and lets nobody in any more', () => {
  const places = createStayPlaces({ placesMax: () => 2, now: Date.now });
  const [staying, gone] = [places.enter('ark', 'b'), places.enter('ark', 'b')];
  gone?.leave();
  places.close();
  expect([staying?.ending.aborted, gone?.ending.aborted]).toEqual([true, false]);
  expect(staying?.endedBy()).toBe('closed');
  expect(places.enter('ark', 'b')).toBeUndefined();
});

it('ends the stay of one task, in whatever queue it is', () => {
  const places = createStayPlaces({ placesMax: () => 2, now: Date.now });
  expect(places.isEmpty()).toBe(true);
  const [meant, other] = [places.enter('ark', 'a'), places.enter('kling', 'b')];
  expect(places.isEmpty()).toBe(false);
  places.wake('a');
  places.wake('nobody');
  expect([meant?.endedBy(), other?.endedBy()]).toEqual(['woken', undefined]);
  expect([meant?.ending.aborted, other?.ending.aborted]).toEqual([true, false]);
});

it('spreads those that find no place, so that thousands cost no more a second than fifty', () => {
  let now = 1_000_000;
  const places = createStayPlaces({ placesMax: () => 0, now: () => now });
  const alone = places.returnInMs('kling');
  expect(alone).toBeGreaterThanOrEqual(5_000);
  expect(alone).toBeLessThanOrEqual(6_000);
  const returns = Array.from({ length: 7_000 }, () => places.returnInMs('ark'));
  const inFirst = (ms: number) => returns.filter((delay) => delay <= ms).length;
  expect(inFirst(6_000)).toBeLessThanOrEqual(50);
  expect(Math.max(...returns)).toBeLessThanOrEqual(5_000 + 7_000 * 20);
  // Once they are served, nobody waits for their appointments.
  now += 200_000;
  expect(places.returnInMs('ark')).toBeLessThanOrEqual(6_000);
});
