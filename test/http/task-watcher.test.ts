import { describe, expect, it } from 'vitest';
import { createTaskWatcher } from '../../src/http/task-watcher.ts';
import type { TaskDocument } from '../../src/store/tasks.ts';

describe('the watcher', () => {
  const wait = {
    task: 't',
    status: 'pending',
    timeoutMs: 60_000,
    signal: new AbortController().signal,
  } as const;
  const deps = { findMany: () => Promise.resolve([]), now: Date.now, onError: () => {}, intervalMs: 5 };

  it('answers at once beyond its limit, and after release', async () => {
    const watcher = createTaskWatcher({ ...deps, waitersMax: 1 });
    const first = watcher.waitForChange(wait);
    expect(await watcher.waitForChange(wait)).toBeUndefined();
    watcher.release();
    expect(await first).toBeUndefined();
    expect(await watcher.waitForChange(wait)).toBeUndefined();
    expect(watcher.waiting()).toBe(0);
  });

  it('forgets a caller who hung up', async () => {
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
          : Promise.resolve([{ ...({} as TaskDocument), _id: 't', status: 'running' }]),
    });
    expect(await watcher.waitForChange(wait)).toMatchObject({ status: 'running' });
    expect(errors).toHaveLength(1);
  });
});
