import { describe, expect, it } from 'vitest';
import { gatherReads } from '../../src/store/gather-reads.ts';

function openReads(missing: readonly string[] = []) {
  const asked: {
    readonly ids: readonly string[];
    readonly answer: () => void;
    readonly fail: (error: Error) => void;
  }[] = [];
  const read = <Result>(ids: readonly string[], result: Result): Promise<Result> =>
    new Promise((resolve, reject) => {
      asked.push({ ids, answer: () => resolve(result), fail: reject });
    });
  const valueOf = (id: string): string | undefined => (missing.includes(id) ? undefined : `value of ${id}`);
  const find = gatherReads<string>({
    one: (id) => read([id], valueOf(id)),
    many: (ids) => {
      const found = ids.flatMap((id): [string, string][] => {
        const value = valueOf(id);
        return value === undefined ? [] : [[id, value]];
      });
      return read(ids, new Map(found));
    },
  });
  const answerAll = async (): Promise<void> => {
    while (asked.length > 0) {
      for (const { answer } of asked.splice(0)) answer();
      await settled();
    }
  };
  return { find, asked, answerAll };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const idsOf = (asked: readonly { readonly ids: readonly string[] }[]) => asked.map(({ ids }) => ids);

describe('reads that are requested at once', () => {
  it('are sent alone and immediately while hardly any are in flight', () => {
    const { find, asked } = openReads();
    void find('a');
    void find('b');
    expect(idsOf(asked)).toEqual([['a'], ['b']]);
  });

  it('share the next read when one has returned, each id once', async () => {
    const { find, asked, answerAll } = openReads();
    const found = ['a', 'b', 'c', 'd', 'c'].map((id) => find(id));
    expect(idsOf(asked)).toEqual([['a'], ['b']]);
    asked.shift()?.answer();
    await settled();
    expect(idsOf(asked)).toEqual([['b'], ['c', 'd']]);
    await answerAll();
    expect(await Promise.all(found)).toEqual(['a', 'b', 'c', 'd', 'c'].map((id) => `value of ${id}`));
  });

  it('never use a read that was sent before them', async () => {
    const { find, asked, answerAll } = openReads();
    const found = ['a', 'b', 'a'].map((id) => find(id));
    asked[0]?.answer();
    await settled();
    expect(idsOf(asked.slice(1))).toEqual([['b'], ['a']]);
    await answerAll();
    await Promise.all(found);
  });

  it('do not wait for reads that hang', async () => {
    const { find, asked } = openReads();
    for (const id of ['a', 'b', 'c', 'd']) void find(id);
    await expect.poll(() => idsOf(asked)).toEqual([['a'], ['b'], ['c', 'd']]);
    void find('e');
    await expect.poll(() => idsOf(asked).at(-1)).toEqual(['e']);
  });

  it('are at most a hundred per read', async () => {
    const { find, asked, answerAll } = openReads();
    const ids = Array.from({ length: 252 }, (_, n) => `id-${n}`);
    const found = ids.map((id) => find(id));
    expect(asked.map((read) => read.ids.length)).toEqual([1, 1, 100, 100]);
    await answerAll();
    expect(await Promise.all(found)).toEqual(ids.map((id) => `value of ${id}`));
  });

  it('read separately what a shared read did not contain', async () => {
    const { find, asked, answerAll } = openReads(['c']);
    const found = ['a', 'b', 'c', 'd'].map((id) => find(id));
    for (const { answer } of asked.splice(0)) answer();
    await settled();
    expect(idsOf(asked)).toEqual([['c', 'd']]);
    asked.shift()?.answer();
    await settled();
    expect(idsOf(asked)).toEqual([['c']]);
    await answerAll();
    expect((await Promise.all(found)).slice(2)).toEqual([undefined, 'value of d']);
  });

  it('fail together, and the next ones do not', async () => {
    const { find, asked, answerAll } = openReads();
    const found = ['a', 'b', 'c', 'd'].map((id) => find(id));
    for (const { answer } of asked.splice(0)) answer();
    await settled();
    asked.shift()?.fail(new Error('no database'));
    const outcomes = await Promise.allSettled(found);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
    const next = find('c');
    await answerAll();
    expect(await next).toBe('value of c');
  });
});
