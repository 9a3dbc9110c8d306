import { expect, it } from 'vitest';
import { walk } from '../../src/base/walk.ts';

function loop({ poisoned, stuck = [] }: { poisoned: readonly string[]; stuck?: readonly string[] }) {
  const [done, postponed]: [string[], string[]] = [[], []];
  return {
    loop: 'stored bytes' as const,
    done,
    postponed,
    run: async (item: string) => {
      if (poisoned.includes(item)) throw new Error(`${item} is refused`);
      done.push(item);
      return true;
    },
    onFailed: async (item: string) => {
      if (stuck.includes(item)) throw new Error(`${item} stays`);
      postponed.push(item);
    },
  };
}

it.each([true, false])(
  'an item that fails is postponed and does not stop the others; together: %s',
  async (isTogether) => {
    const each = loop({ poisoned: ['a', 'c'] });
    expect(await walk(['a', 'b', 'c', 'd'], { ...each, isTogether })).toEqual({ done: 2, failed: 2 });
    expect([each.done, each.postponed]).toEqual([
      ['b', 'd'],
      ['a', 'c'],
    ]);
  },
);

it.each([true, false])(
  'an item that cannot be postponed is reported after the others; together: %s',
  async (isTogether) => {
    const each = loop({ poisoned: ['a', 'b'], stuck: ['a'] });
    await expect(walk(['a', 'b', 'c'], { ...each, isTogether })).rejects.toMatchObject({
      message: '1 items could not be postponed',
      errors: [new Error('a stays')],
    });
    expect([each.done, each.postponed]).toEqual([['c'], ['b']]);
  },
);

it('counts only what was done, and leaves the rest for the next walk', async () => {
  const seen: string[] = [];
  const run = async (item: string) => {
    seen.push(item);
    return item !== 'a';
  };
  const isOver = () => seen.length === 2;
  const onFailed = () => undefined;
  const walked = await walk(['a', 'b', 'c'], { loop: 'stored bytes', run, onFailed, isOver });
  expect(walked).toEqual({ done: 1, failed: 0 });
  expect(seen).toEqual(['a', 'b']);
});
