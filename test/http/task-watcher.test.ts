import { describe, expect, it } from 'vitest';
import { createTaskWatcher } from '../../src/http/task-watcher.ts';
import type { Task } from '../../src/task/record.ts';

describe('the watcher', () => {
  const wait = {
    task: 't',
    account: 'a',
    status: 'pending',
    timeoutMs: 60_000,
    signal: new AbortController().signal,
  } as const;
  const deps = { findMany: () => Promise.resolve([]), now: Date.now, onError: () => {}, intervalMs: 5 };

  it('responds at once beyond its limit, and after release', async () => {
    const watcher = createTaskWatcher({ ...deps, waitersMax: 1 });
    const first = watcher.waitForChange(wait);
    expect(await watcher.waitForChange(wait)).toBeUndefined();
    watcher.release();
    expect(await first).toBeUndefined();
    expect(await watcher.waitForChange(wait)).toBeUndefined();
    expect(watcher.waiting()).toBe(0);
  });

  it('if all places are taken, the account with the most loses one', async () => {
    const watcher = createTaskWatcher({ ...deps, waitersMax: 4 });
    const outcomes: string[] = [];
    const hang = (account: string, name: string) =>
      void watcher.waitForChange({ ...wait, account }).then(() => outcomes.push(name));
    for (const n of [1, 2, 3, 4]) hang('flood', `flood ${n}`);
    hang('quiet', 'quiet 1');
    await expect.poll(() => outcomes).toEqual(['flood 1']);
    hang('quiet', 'quiet 2');
    await expect.poll(() => outcomes).toEqual(['flood 1', 'flood 2']);
    // Both accounts now have their full share, which is two of the four slots each. A further request is therefore not
    // allowed to wait.
    for (const account of ['quiet', 'flood']) {
      expect(await watcher.waitForChange({ ...wait, account })).toBeUndefined();
    }
    expect(watcher.waiting()).toBe(4);
    watcher.release();
  });

  it('forgets a caller that disconnected', async () => {
    const hangUp = new AbortController();
    const watcher = createTaskWatcher(deps);
    const waiting = watcher.waitForChange({ ...wait, signal: hangUp.signal });
    hangUp.abort();
    expect(await waiting).toBeUndefined();
    expect(watcher.waiting()).toBe(0);
  });

  it('continues after an error', async () => {
    let calls = 0;
    const errors: unknown[] = [];
    const watcher = createTaskWatcher({
      ...deps,
      onError: (error) => errors.push(error),
      findMany: () =>
        (calls += 1) === 1
          ? Promise.reject(new Error('away'))
          : Promise.resolve([{ ...({} as Task), id: 't', status: 'running' }]),
    });
    expect(await watcher.waitForChange(wait)).toMatchObject({ status: 'running' });
    expect(errors).toHaveLength(1);
  });
});
