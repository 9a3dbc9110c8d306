import { describe, expect, it } from 'vitest';
import { firstThatWorks, type Source } from '../../../src/local/servers/first-that-works.ts';

function tryAll(outcomes: readonly ('works' | 'fails' | 'fails slowly')[]) {
  const tried: number[] = [];
  const said: string[] = [];
  const sources = outcomes.map((outcome, index): Source<string> => ({
    title: `source ${index}`,
    ...(outcome === 'fails slowly' ? { slow: true as const } : {}),
    attempt: async () => {
      tried.push(index);
      return outcome === 'works' ? { program: `program ${index}` } : { failure: `no ${index}` };
    },
  }));
  const wanted = { server: 'Temporal', advice: 'Install it.', sources };
  const options = { dataDir: '', environment: {}, report: (line: string) => void said.push(line) };
  const found = firstThatWorks(wanted, options);
  return { found, tried, said };
}

describe('the first source that works', () => {
  it('is used, and no later one is tried', async () => {
    const { found, tried, said } = tryAll(['fails', 'works', 'works']);
    expect(await found).toBe('program 1');
    expect(tried).toEqual([0, 1]);
    expect(said).toEqual([]);
  });

  it('is announced if the failure before it took a while', async () => {
    const { found, said } = tryAll(['fails slowly', 'works']);
    await found;
    expect(said).toEqual(['Temporal: source 0: no 0. Next: source 1.']);
  });

  it('does not exist: the error lists everything that was tried, and what would help', async () => {
    const { found } = tryAll(['fails', 'fails slowly']);
    await expect(found).rejects.toThrow(
      'No Temporal server: tried\n  - source 0: no 0\n  - source 1: no 1\nInstall it.',
    );
  });
});
