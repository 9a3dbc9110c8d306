import { describe, expect, it } from 'vitest';
import { createKeyConcurrency } from '../../src/http/key-concurrency.ts';
import { createWaitPlaces } from '../../src/http/wait-places.ts';

function openPlaces(max: number) {
  const evicted: string[] = [];
  const places = createWaitPlaces<{ account: string; name: string; evict: () => void }>(max);
  /** True: it waits. */
  const enter = (account: string, name: string): boolean => {
    if (!places.makeRoom(account)) return false;
    const holder = {
      account,
      name,
      evict: () => {
        evicted.push(name);
        places.remove(holder);
      },
    };
    places.add(holder);
    return true;
  };
  const held = () => [...places.holders].map(({ name }) => name);
  return { places, evicted, enter, held };
}

describe('places to wait', () => {
  it('are for anyone while there are some', () => {
    const { enter, held } = openPlaces(3);
    expect([enter('a', 'a1'), enter('a', 'a2'), enter('a', 'a3'), enter('a', 'a4')]).toEqual([
      true, true, true, false,
    ]); // prettier-ignore
    expect(held()).toEqual(['a1', 'a2', 'a3']);
  });

  it('are taken from whoever has most of them, oldest first, for one who has fewer, until both have the same', () => {
    const { enter, evicted, held } = openPlaces(4);
    for (const name of ['a1', 'a2', 'a3', 'a4']) enter('a', name);
    expect(enter('b', 'b1')).toBe(true);
    expect(enter('b', 'b2')).toBe(true);
    // Two each: one more would only move the shortage.
    expect(enter('b', 'b3')).toBe(false);
    expect(evicted).toEqual(['a1', 'a2']);
    expect(held()).toEqual(['a3', 'a4', 'b1', 'b2']);
  });

  it('one that is taken back is free, once', () => {
    const { enter, places, held } = openPlaces(1);
    enter('a', 'a1');
    const [holder] = places.holders;
    if (holder !== undefined) {
      places.remove(holder);
      places.remove(holder);
    }
    expect(held()).toEqual([]);
    expect([enter('b', 'b1'), enter('b', 'b2')]).toEqual([true, false]);
  });

  it('where each account has one, a newcomer has to go elsewhere', () => {
    const { enter, evicted } = openPlaces(2);
    expect([enter('a', 'a1'), enter('b', 'b1'), enter('c', 'c1')]).toEqual([true, true, false]);
    expect(evicted).toEqual([]);
  });
});

describe('requests of a key at once', () => {
  it('are counted for each key, and refused beyond the limit with a time to come back', () => {
    const concurrency = createKeyConcurrency(2);
    const leave = concurrency.enter('a');
    concurrency.enter('a');
    concurrency.enter('b');
    expect(() => concurrency.enter('a')).toThrow(
      expect.objectContaining({ code: 'rate_limit_exceeded', retryAfterSeconds: 1 }),
    );
    leave();
    expect(() => concurrency.enter('a')).not.toThrow();
    expect(() => concurrency.enter('a')).toThrow();
  });

  it('a refused one does not count', () => {
    const concurrency = createKeyConcurrency(1);
    const leave = concurrency.enter('a');
    for (let n = 0; n < 5; n += 1) expect(() => concurrency.enter('a')).toThrow();
    leave();
    expect(() => concurrency.enter('a')).not.toThrow();
  });

  it('have no limit where it is 0', () => {
    const concurrency = createKeyConcurrency(0);
    for (let n = 0; n < 1000; n += 1) expect(() => concurrency.enter('a')).not.toThrow();
  });
});
