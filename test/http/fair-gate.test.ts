import { expect, it } from 'vitest';
import { createFairGate } from '../../src/http/fair-gate.ts';

/** Jobs that end when the test says so. */
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

it('accounts take turns, whoever came first with how many', async () => {
  const gate = createFairGate({ placesMax: 1, accountPlacesMax: 1 });
  const { started, job, end } = jobs();
  const results = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map((name) => gate.run(name.charAt(0), job(name)));
  for (let n = 0; n < 6; n += 1) await end(started.at(-1) ?? '');
  expect(started).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  expect(await Promise.all(results)).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'b2']);
});

it('one account leaves places free for the next to come', async () => {
  const gate = createFairGate({ placesMax: 3, accountPlacesMax: 2 });
  const { started, job, end } = jobs();
  for (const name of ['a1', 'a2', 'a3', 'a4']) void gate.run('a', job(name));
  void gate.run('b', job('b1'));
  expect(started).toEqual(['a1', 'a2', 'b1']);
  await end('b1');
  expect(started).toEqual(['a1', 'a2', 'b1']);
  await end('a1');
  expect(started.at(-1)).toBe('a3');
});

it('a job that fails gives its place back', async () => {
  const gate = createFairGate({ placesMax: 1, accountPlacesMax: 1 });
  const failing = gate.run('a', () => Promise.reject(new Error('no')));
  const next = gate.run('a', () => Promise.resolve('yes'));
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('yes');
});
