import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPlaces, type Place, type PlacesOptions, type Refusal } from '../../src/base/places.ts';

function jobs() {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    started,
    job: (name: string) => () => {
      started.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
    },
    end: async (name: string) => {
      ends.get(name)?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe('turns', () => {
  it('rotate, whichever holder came first and however many jobs it has', async () => {
    const places = createPlaces({ name: 'reports', placesMax: 1 });
    const { started, job, end } = jobs();
    const names = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'];
    const results = names.map((name) => places.run(name.charAt(0), job(name)));
    await end('');
    for (let n = 0; n < 6; n += 1) await end(started.at(-1) ?? '');
    expect(started).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    expect(await Promise.all(results)).toEqual(names);
    expect(places.held).toBe(0);
  });

  it('go to the holder that has the fewest places', async () => {
    const places = createPlaces({ name: 'reports', placesMax: 3 });
    const { started, job, end } = jobs();
    for (const name of ['b1', 'a1', 'a2', 'b2', 'a3', 'c1']) void places.run(name.charAt(0), job(name));
    await end('');
    await end('a1');
    expect(started).toEqual(['b1', 'a1', 'a2', 'c1']);
  });

  it('leave places free that a single holder may not use', async () => {
    const places = createPlaces({ name: 'reports', placesMax: 3, shareMax: 2 });
    const { started, job, end } = jobs();
    for (const name of ['a1', 'a2', 'a3', 'a4']) void places.run('a', job(name));
    void places.run('b', job('b1'));
    await end('');
    expect(started).toEqual(['a1', 'a2', 'b1']);
    await end('b1');
    expect(started).toEqual(['a1', 'a2', 'b1']);
    await end('a1');
    expect(started.at(-1)).toBe('a3');
  });

  it('are returned by a job that fails', async () => {
    const places = createPlaces({ name: 'reports', placesMax: 1 });
    const failing = places.run('a', () => Promise.reject(new Error('no')));
    const next = places.run('a', () => Promise.resolve('yes'));
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });

  it('skip holders that no longer wait', async () => {
    const places = createPlaces({ name: 'reports', placesMax: 1 });
    const first = await places.wait('a');
    const gone = new AbortController();
    const waits = [places.wait('b', gone.signal), places.wait('c')];
    gone.abort();
    expect(await waits[0]).toBeUndefined();
    first?.leave();
    expect(await waits[1]).toMatchObject({ size: 1 });
    expect(await places.wait('d', gone.signal)).toBeUndefined();
  });
});

function named(options: Omit<PlacesOptions, 'name'>) {
  const places = createPlaces({ name: 'reports', ...options });
  const evicted: string[] = [];
  const held = new Map<string, Place>();
  const enter = (holder: string, name: string, size = 1): Refusal | 'in' => {
    const place = places.take(holder, { size, evict: () => evicted.push(name) });
    if (typeof place === 'string') return place;
    held.set(name, place);
    return 'in';
  };
  return { places, evicted, enter, place: (name: string) => held.get(name) };
}

describe('a full house', () => {
  it('is open to everyone until it is full', () => {
    const { enter } = named({ placesMax: 3 });
    expect([1, 2, 3, 4].map((n) => enter('a', `a${n}`))).toEqual(['in', 'in', 'in', 'full']);
  });

  it('takes the oldest place of the largest holder for a smaller one, until both have the same number', () => {
    const { enter, evicted } = named({ placesMax: 4 });
    for (const name of ['a1', 'a2', 'a3', 'a4']) enter('a', name);
    expect(['b1', 'b2', 'b3'].map((name) => enter('b', name))).toEqual(['in', 'in', 'full']);
    expect(evicted).toEqual(['a1', 'a2']);
  });

  it('rejects a newcomer or gives it the oldest place if every holder has one place', () => {
    const strict = named({ placesMax: 2 });
    expect(['a', 'b', 'c'].map((name) => strict.enter(name, name))).toEqual(['in', 'in', 'full']);
    const open = named({ placesMax: 2, evicts: 'any' });
    expect(['a', 'b', 'c'].map((name) => open.enter(name, name))).toEqual(['in', 'in', 'in']);
    expect(open.evicted).toEqual(['a']);
  });

  it('evicts unused places first, then idle and busy ones, but never kept ones', () => {
    const { enter, evicted, place } = named({ placesMax: 5 });
    for (const use of ['kept', 'busy', 'busy', 'idle', 'unused'] as const) {
      enter('a', use);
      place(use)?.mark(use);
    }
    for (const name of ['b', 'c', 'd']) enter(name, name);
    expect(evicted).toEqual(['unused', 'idle', 'busy']);
    place('busy')?.mark('kept');
    expect(enter('e', 'e')).toBe('full');
  });

  it('if places differ in size, takes the largest, as many as it needs', () => {
    const { enter, evicted, places } = named({ placesMax: 100, shareMax: 80 });
    expect(enter('a', 'small', 20)).toBe('in');
    expect(enter('a', 'large', 50)).toBe('in');
    expect(enter('a', 'beyond', 11)).toBe('share');
    expect(enter('b', 'b', 35)).toBe('in');
    expect(evicted).toEqual(['large']);
    expect(places.held).toBe(55);
  });

  it('keeps a reserve for holders without a place', () => {
    const { enter } = named({ placesMax: 3, reserve: 1 });
    expect(['a1', 'a2', 'a3'].map((name) => enter('a', name))).toEqual(['in', 'in', 'full']);
    expect([enter('b', 'b1'), enter('b', 'b2')]).toEqual(['in', 'full']);
  });
});

it('a place that was evicted or left is returned once and cannot grow', () => {
  const { enter, place, places } = named({ placesMax: 2 });
  enter('a', 'a1');
  enter('a', 'a2');
  enter('b', 'b1');
  expect(place('a1')?.resize(1)).toBe('full');
  for (let n = 0; n < 3; n += 1) for (const name of ['a1', 'b1']) place(name)?.leave();
  expect([places.held, places.heldBy('a'), places.heldBy('b')]).toEqual([1, 1, 0]);
});

it('reports whether there is room without taking any', () => {
  const { enter, evicted, places } = named({ placesMax: 4, shareMax: 3 });
  for (const name of ['a1', 'a2', 'a3']) enter('a', name);
  expect([places.refusal('a', 1), places.refusal('b', 2), places.refusal('b', 3)]).toEqual([
    'share',
    undefined,
    'full',
  ]);
  expect([places.held, evicted]).toEqual([3, []]);
});

it('always counts what is held, stays within the limits, and never lets a holder wait while a place is free', () => {
  const act = fc.record({
    holder: fc.constantFrom('a', 'b', 'c', 'd'),
    what: fc.constantFrom('take', 'wait', 'leave', 'grow', 'shrink', 'keep', 'idle'),
    pick: fc.nat(),
  });
  const property = fc.asyncProperty(
    fc.array(act, { maxLength: 60 }),
    fc.constantFrom<'more' | 'any'>('more', 'any'),
    async (acts, evicts) => {
      const options = { placesMax: 6, shareMax: 4, reserve: 1, evicts };
      const places = createPlaces({ name: 'reports', ...options });
      const held: { place: Place; holder: string; isGone: boolean }[] = [];
      let waiting = 0;
      const hold = (place: Place, holder: string) => held.push({ place, holder, isGone: false });
      for (const { holder, what, pick } of acts) {
        const one = held[pick % Math.max(held.length, 1)];
        if (what === 'take') {
          const entry = { isGone: false };
          const place = places.take(holder, { evict: () => (entry.isGone = true) });
          if (typeof place !== 'string') held.push(Object.assign(entry, { place, holder }));
        }
        if (what === 'wait') {
          waiting += 1;
          void places.wait(holder).then((place) => {
            waiting -= 1;
            if (place !== undefined) hold(place, holder);
          });
        }
        if (what === 'leave') one?.place.leave();
        if (what === 'grow') one?.place.resize(one.place.size + 1);
        if (what === 'shrink') one?.place.resize(Math.max(0, one.place.size - 1));
        if (what === 'keep') one?.place.mark('kept');
        if (what === 'idle') one?.place.mark('idle');
        await new Promise((resolve) => setImmediate(resolve));
        const sizes = held.map(({ place }) => place.size);
        expect(places.held).toBe(sizes.reduce((sum, size) => sum + size, 0));
        expect(places.held).toBeLessThanOrEqual(options.placesMax);
        for (const name of ['a', 'b', 'c', 'd'])
          expect(places.heldBy(name)).toBeLessThanOrEqual(options.shareMax);
        for (const { isGone, place } of held) if (isGone) expect(place.size).toBe(0);
      }
      for (let n = 0; n < 100 && (waiting > 0 || places.held > 0); n += 1) {
        for (const { place } of held) place.leave();
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect([waiting, places.held]).toEqual([0, 0]);
    },
  );
  return fc.assert(property, { numRuns: 100 });
});
