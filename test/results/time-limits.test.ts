import { tmpdir } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { NoRoomError, NotReadError, StorageAwayError } from '../../src/errors/not-stored.ts';
import { createDirectoryStorage } from '../../src/results/directory-storage.ts';
import { withKnownRefusals } from '../../src/results/known-refusals.ts';
import type { ResultStorage } from '../../src/results/storage.ts';
import { storageLimits, withTimeLimits } from '../../src/results/time-limits.ts';

const unused = createDirectoryStorage(tmpdir());

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

it('a storage that accepts nothing releases the file, and can never complete it', async () => {
  const log: string[] = [];
  let wake = (): void => undefined;
  const woken = new Promise<void>((resolve) => (wake = resolve));
  const writing: Promise<void>[] = [];
  const hanging = {
    ...unused,
    write(_: string, body: AsyncIterable<Uint8Array>) {
      const work = (async () => {
        for await (const piece of body) {
          log.push(`${piece.byteLength} bytes`);
          await woken;
        }
        log.push('complete');
      })();
      writing.push(work);
      return work;
    },
  };
  const notes: unknown[] = [];
  const storage = withKnownRefusals(withTimeLimits(hanging, { ...storageLimits, takeMs: 200 }), {
    note: async (failure) => void notes.push(failure),
    lastFull: async () => undefined,
    now: Date.now,
  });
  const image = ((): WeakRef<Buffer> => {
    const whole = Buffer.alloc(1024 * 1024);
    async function* pieces() {
      yield Buffer.alloc(10);
      yield whole;
    }
    void storage.write('task_a/0.png', pieces(), { mediaType: 'image/png' }).catch(() => undefined);
    return new WeakRef(whole);
  })();
  await expect.poll(() => notes).toHaveLength(1);
  expect(notes[0]).toBeInstanceOf(StorageAwayError);
  await expect
    .poll(() => {
      collectGarbage();
      return image.deref();
    })
    .toBeUndefined();
  wake();
  await expect(writing[0]).rejects.toThrow('no response');
  expect(log).toEqual(['10 bytes']);
});

it('a write that has received the whole file is aborted after the time limit', async () => {
  let given: AbortSignal | undefined;
  const hanging = {
    ...unused,
    async write(...[, body, { signal }]: Parameters<ResultStorage['write']>) {
      given = signal;
      for await (const _piece of body);
      await new Promise(() => undefined);
    },
  };
  async function* one() {
    yield Buffer.alloc(10);
  }
  const storage = withTimeLimits(hanging, { ...storageLimits, takeMs: 200 });
  await expect(storage.write('task_a/0.png', one(), { mediaType: 'image/png' })).rejects.toThrow(
    'no response',
  );
  expect(given?.aborted).toBe(true);
});

it('a failed read does not hide that there is no room', async () => {
  const notes: unknown[] = [];
  const failing = {
    ...unused,
    stat: () => Promise.reject(new NotReadError(new Error('away'))),
    write: () => Promise.reject(new NoRoomError('full')),
  };
  const storage = withKnownRefusals(failing, {
    note: async (failure) => void notes.push(failure.constructor),
    lastFull: async () => undefined,
    now: () => 0,
  });
  async function* nothing() {}
  await storage.stat('task_a/0.png').catch(() => undefined);
  await storage.write('task_a/0.png', nothing(), { mediaType: 'image/png' }).catch(() => undefined);
  expect(notes).toEqual([NotReadError, NoRoomError]);
});
