import { expect, it } from 'vitest';
import { createHostPlaces, type HostPlace } from '../../src/capacity/host-places.ts';

const placesOf = (
  change: { requestsPerHostMax?: number; requestsPerAccountMax?: number; waitMs?: number } = {},
) =>
  createHostPlaces({
    requestsPerHostMax: 2,
    requestsPerAccountMax: 100,
    waitMs: 60_000,
    now: () => 0,
    random: () => 1,
    ...change,
  });

function leave(place: HostPlace): void {
  if (!place.isGranted) throw new Error('a place was expected');
  place.leave();
}

const returnsInMs = (place: HostPlace): number => {
  if (place.isGranted) throw new Error('no place was expected');
  return place.afterMs;
};

it('a request that has waited too long is rejected, and other origins stay free', async () => {
  const places = placesOf({ waitMs: 1 });
  const first = await places.take('a', 'one');
  await places.take('a', 'one');
  expect(await places.take('a', 'one')).toMatchObject({ isGranted: false });
  expect(await places.take('b', 'one')).toMatchObject({ isGranted: true });
  leave(first);
  expect(await places.take('a', 'one')).toMatchObject({ isGranted: true });
});

it('an account whose requests hang leaves room for others at the same origin', async () => {
  const places = placesOf({ requestsPerHostMax: 8, waitMs: 60_000 });
  const hanging = [];
  for (let n = 0; n < 6; n += 1) hanging.push(await places.take('a', 'hostile'));
  const waiting = Array.from({ length: 50 }, () => places.take('a', 'hostile'));
  const first = await places.take('a', 'victim');
  expect(first).toMatchObject({ isGranted: true });
  // The first slot to become free restores the reserve. The second one goes to the victim, ahead of the fifty waiting
  // requests.
  const second = places.take('a', 'victim');
  for (const place of hanging.slice(0, 2)) leave(place);
  expect(await second).toMatchObject({ isGranted: true });
  expect(waiting).toHaveLength(50);
});

it('a place that is passed to a waiting request is counted once', async () => {
  const places = placesOf();
  const [first, second] = [await places.take('a', 'one'), await places.take('a', 'one')];
  const third = places.take('a', 'one');
  leave(first);
  leave(await third);
  leave(second);
  const again = [await places.take('a', 'one'), await places.take('a', 'one')];
  expect(again).toMatchObject([{ isGranted: true }, { isGranted: true }]);
  expect(places.takeFree('a', 'one')).toBeUndefined();
});

it('rejected requests return one after the other, within five minutes', async () => {
  const places = placesOf({ requestsPerHostMax: 1, waitMs: 1 });
  const holder = await places.take('a', 'one');
  expect(holder.isGranted).toBe(true);
  const sentAway = [];
  for (let n = 0; n < 400; n += 1) sentAway.push(returnsInMs(await places.take('a', 'one')));
  expect(sentAway.slice(0, 100)).toEqual(sentAway.slice(0, 100).toSorted((left, right) => left - right));
  expect(new Set(sentAway.slice(0, 100)).size).toBe(100);
  expect(Math.min(...sentAway)).toBeGreaterThanOrEqual(1_000);
  expect(Math.max(...sentAway)).toBeLessThanOrEqual(300_000);
});

it('one account with many hosts leaves room for other accounts', async () => {
  const places = placesOf({ requestsPerAccountMax: 3 });
  const taken = [];
  for (let n = 0; n < 3; n += 1) taken.push(await places.take(`${n}.dead.example`, 'one'));
  const returns = [];
  for (let n = 3; n < 6; n += 1) returns.push(returnsInMs(await places.take(`${n}.dead.example`, 'one')));
  expect(returns).toEqual([...new Set(returns)].toSorted((left, right) => left - right));
  expect(await places.take('0.dead.example', 'other')).toMatchObject({ isGranted: true });
  for (const place of taken.slice(0, 1)) leave(place);
  expect(await places.take('6.dead.example', 'one')).toMatchObject({ isGranted: true });
  expect(await places.take('7.dead.example', 'one')).toMatchObject({ isGranted: false });
});

it('a waiting request counts towards its account until it is rejected', async () => {
  const places = placesOf({ requestsPerHostMax: 1, requestsPerAccountMax: 2, waitMs: 20 });
  await places.take('a', 'one');
  const waits = places.take('a', 'one');
  expect(await places.take('b', 'one')).toMatchObject({ isGranted: false });
  expect(await waits).toMatchObject({ isGranted: false });
  expect(await places.take('b', 'one')).toMatchObject({ isGranted: true });
});
