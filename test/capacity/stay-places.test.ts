import { expect, it } from 'vitest';
import { createStayPlaces } from '../../src/capacity/stay-places.ts';

const of = (queue: string, account = 'first') => ({ queue, account });

it('gives each queue its places, and reuses each place', () => {
  const places = createStayPlaces({ placesMax: () => 1, monotonic: Date.now });
  const first = places.enter(of('ark'), 'a');
  expect(first).toBeDefined();
  expect(places.enter(of('ark'), 'b')).toBeUndefined();
  expect([places.isFull(of('ark')), places.isFull(of('kling'))]).toEqual([true, false]);
  expect(places.enter(of('kling'), 'c')).toBeDefined();
  first?.leave();
  expect(places.enter(of('ark'), 'b')).toBeDefined();
});

it('an account gets a place while another holds all of them, and the other then loses one', () => {
  const places = createStayPlaces({ placesMax: () => 3, monotonic: Date.now });
  const held = ['a', 'b', 'c'].map((task) => places.enter(of('ark'), task));
  const isFull = (account: string) => places.isFull(of('ark', account));
  expect([isFull('first'), isFull('second')]).toEqual([true, false]);
  const place = places.enter(of('ark', 'second'), 'd');
  expect(place?.endedBy()).toBeUndefined();
  expect(held.map((each) => each?.endedBy())).toEqual(['evicted', undefined, undefined]);
  expect(held.map((each) => each?.closing.aborted)).toEqual([false, false, false]);
  held[0]?.leave();
  expect([isFull('first'), isFull('second')]).toEqual([true, true]);
});

it('an attempt keeps its place while it polls, and can lose it while it waits', () => {
  const places = createStayPlaces({ placesMax: () => 2, monotonic: Date.now });
  const [asking, resting] = ['a', 'b'].map((task) => places.enter(of('ark'), task));
  asking?.rests(false);
  resting?.rests(false);
  expect(places.enter(of('ark', 'second'), 'c')).toBeUndefined();
  resting?.rests(true);
  expect(places.enter(of('ark', 'second'), 'c')).toBeDefined();
  expect([asking?.endedBy(), resting?.endedBy()]).toEqual([undefined, 'evicted']);
});

it('ends every wait when the worker shuts down, and admits no others', () => {
  const places = createStayPlaces({ placesMax: () => 2, monotonic: Date.now });
  const [staying, gone] = [places.enter(of('ark'), 'b'), places.enter(of('ark'), 'b')];
  gone?.leave();
  places.close();
  expect([staying?.ending.aborted, gone?.ending.aborted]).toEqual([true, false]);
  expect(staying?.endedBy()).toBe('closed');
  expect(places.enter(of('ark'), 'b')).toBeUndefined();
});

it('ends the wait of one task, in whatever queue it is', () => {
  const places = createStayPlaces({ placesMax: () => 2, monotonic: Date.now });
  expect(places.isEmpty()).toBe(true);
  const [meant, other] = [places.enter(of('ark'), 'a'), places.enter(of('kling'), 'b')];
  expect(places.isEmpty()).toBe(false);
  places.wake('a');
  places.wake('nobody');
  expect([meant?.endedBy(), other?.endedBy()]).toEqual(['woken', undefined]);
  expect([meant?.ending.aborted, other?.ending.aborted]).toEqual([true, false]);
});

it('spreads the retries of attempts without a place, so that thousands cost no more per second than fifty', () => {
  let now = 1_000_000;
  const places = createStayPlaces({ placesMax: () => 0, monotonic: () => now });
  const alone = places.returnInMs('kling');
  expect(alone).toBeGreaterThanOrEqual(5_000);
  expect(alone).toBeLessThanOrEqual(6_000);
  const returns = Array.from({ length: 7_000 }, () => places.returnInMs('ark'));
  const inFirst = (ms: number) => returns.filter((delay) => delay <= ms).length;
  expect(inFirst(6_000)).toBeLessThanOrEqual(50);
  expect(Math.max(...returns)).toBeLessThanOrEqual(5_000 + 7_000 * 20);
  now += 200_000;
  expect(places.returnInMs('ark')).toBeLessThanOrEqual(6_000);
});
