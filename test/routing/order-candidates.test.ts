import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { orderCandidates, type RouteChannel } from '../../src/routing/order-candidates.ts';

const channel = (id: string, fields: Partial<RouteChannel> = {}): RouteChannel => ({
  id,
  priority: 0,
  weight: 1,
  credentials: ['key'],
  ...fields,
});

/** A mulberry32 generator: evenly spread and the same in every run. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const channels = fc.uniqueArray(
  fc.record({
    id: fc.string({ minLength: 1, maxLength: 4 }),
    priority: fc.integer({ min: -2, max: 2 }),
    weight: fc.double({ min: 0.001, max: 1000, noNaN: true }),
    credentials: fc.uniqueArray(fc.string({ minLength: 1, maxLength: 3 }), { maxLength: 4 }),
  }),
  { selector: ({ id }) => id, maxLength: 8 },
);
const randoms = fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }));
const draw = (stream: Iterator<number>) => () => Number(stream.next().value);

const pairOf = ({ channel: id, credential }: { channel: string; credential: string }) =>
  JSON.stringify([id, credential]);

describe('any plan', () => {
  it('tries every credential of every channel exactly once', () => {
    fc.assert(
      fc.property(channels, randoms, (given, stream) => {
        const plan = orderCandidates(given, draw(stream));
        const all = given.flatMap(({ id, credentials }) =>
          credentials.map((credential) => pairOf({ channel: id, credential })),
        );
        expect(plan.map(pairOf).sort()).toEqual(all.sort());
      }),
    );
  });

  it('never returns to a higher priority', () => {
    fc.assert(
      fc.property(channels, randoms, (given, stream) => {
        const priorityOf = new Map(given.map(({ id, priority }) => [id, priority]));
        const priorities = orderCandidates(given, draw(stream)).map(
          ({ channel: id }) => priorityOf.get(id) ?? 0,
        );
        expect(priorities).toEqual(priorities.toSorted((a, b) => b - a));
      }),
    );
  });

  it("keeps a channel's credentials together", () => {
    fc.assert(
      fc.property(channels, randoms, (given, stream) => {
        const order = orderCandidates(given, draw(stream)).map(({ channel: id }) => id);
        const runs = order.filter((id, index) => id !== order[index - 1]);
        expect(new Set(runs).size).toBe(runs.length);
      }),
    );
  });

  it('does not change its arguments', () => {
    fc.assert(
      fc.property(channels, randoms, (given, stream) => {
        const before = structuredClone(given);
        orderCandidates(given, draw(stream));
        expect(given).toEqual(before);
      }),
    );
  });
});

describe('randomness', () => {
  const rounds = 20_000;
  function firstChoices(given: readonly RouteChannel[], pick: 'channel' | 'credential'): Map<string, number> {
    const random = seededRandom(42);
    const shares = new Map<string, number>();
    for (let round = 0; round < rounds; round += 1) {
      const first = orderCandidates(given, random)[0]?.[pick] ?? 'none';
      shares.set(first, (shares.get(first) ?? 0) + 1 / rounds);
    }
    return shares;
  }

  it('puts channels first by their weights', () => {
    const shares = firstChoices(
      [channel('a', { weight: 6 }), channel('b', { weight: 3 }), channel('c', { weight: 1 })],
      'channel',
    );
    expect(shares.get('a')).toBeCloseTo(0.6, 1.5);
    expect(shares.get('b')).toBeCloseTo(0.3, 1.5);
    expect(shares.get('c')).toBeCloseTo(0.1, 1.5);
  });

  it('draws the second by the remaining weights', () => {
    const random = seededRandom(7);
    const given = [channel('a', { weight: 6 }), channel('b', { weight: 3 }), channel('c', { weight: 1 })];
    const seconds = Array.from({ length: rounds }, () => orderCandidates(given, random))
      .filter(([first]) => first?.channel === 'a')
      .map(([, second]) => second?.channel);
    const share = seconds.filter((id) => id === 'b').length / seconds.length;
    expect(share).toBeCloseTo(0.75, 1.5);
  });

  it('is fair among credentials', () => {
    const keys = ['k1', 'k2', 'k3', 'k4'];
    const shares = firstChoices([channel('a', { credentials: keys })], 'credential');
    for (const key of keys) expect(shares.get(key)).toBeCloseTo(0.25, 1.5);
  });

  it('does not put a channel first more often because it has more credentials', () => {
    const shares = firstChoices([channel('a', { credentials: ['1', '2', '3'] }), channel('b')], 'channel');
    expect(shares.get('b')).toBeCloseTo(0.5, 1.5);
  });

  it('does not prefer a lower priority, however heavy', () => {
    const shares = firstChoices(
      [channel('a', { weight: 0.001 }), channel('b', { priority: -1, weight: 1000 })],
      'channel',
    );
    expect(shares.get('a')).toBeCloseTo(1, 10);
  });
});

it('no channels make no plan, and a channel without credentials adds nothing', () => {
  expect(orderCandidates([], () => 0)).toEqual([]);
  expect(orderCandidates([channel('a', { credentials: [] }), channel('b')], () => 0)).toEqual([
    { channel: 'b', credential: 'key' },
  ]);
});
