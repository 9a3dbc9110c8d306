export interface Random {
  next(): number;
  between(least: number, most: number): number;
  pick<Item>(items: readonly Item[]): Item;
}

/** A mulberry32 generator. Each stream has its own sequence, which other streams do not affect. */
export function createRandom(seed: number, stream: string): Random {
  let state = Buffer.from(stream).reduce((sum, byte) => Math.imul(sum, 31) + byte, seed) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (least, most) => least + (most - least) * next(),
    pick(items) {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new Error('there is nothing to pick from');
      return item;
    },
  };
}
