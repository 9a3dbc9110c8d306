import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { buffer } from 'node:stream/consumers';
import { CopyError, copyFile, type CopyFileDeps } from '../../src/results/copy-file.ts';

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

async function* bodyOf(...chunks: readonly Uint8Array[]) {
  yield* chunks;
}

const onName = () => Promise.resolve();

function copy(write: CopyFileDeps['storage']['write'], signal: AbortSignal, body = bodyOf(png)) {
  return copyFile(
    {
      storage: { write },
      openLink: () => Promise.resolve({ mediaType: 'image/png', bytes: undefined, body }),
      maxBytes: 1000,
    },
    { task: 't', channel: 'c', url: 'https://cdn.example/a', stem: 'result', signal, onName },
  );
}

const hangs = () => new Promise<never>(() => undefined);

it('a storage that hangs delays the copy no longer than its time limit', async () => {
  const time = new AbortController();
  const copied = copy(hangs, time.signal);
  setImmediate(() => time.abort());
  await expect(copied).rejects.toThrow(new CopyError('the copy took too long'));
});

it('the same is true for a storage that the copy reaches after its time limit', async () => {
  await expect(copy(hangs, AbortSignal.abort())).rejects.toThrow('the copy took too long');
});

it('a body that ends before its type is known is not stored', async () => {
  const stored: string[] = [];
  const write = () => Promise.resolve(void stored.push('written'));
  const signal = new AbortController().signal;
  await expect(copy(write, signal, bodyOf(png.subarray(0, 3)))).rejects.toMatchObject({ final: true });
  await expect(copy(write, signal, bodyOf())).rejects.toMatchObject({ link: 'refused' });
  expect(stored).toEqual([]);
});

it('the first bytes may arrive one by one', async () => {
  const single = [...png].map((byte) => Uint8Array.of(byte));
  const signal = new AbortController().signal;
  expect(await copy(async (_, body) => void (await buffer(body)), signal, bodyOf(...single))).toEqual({
    name: 'result.png',
    sha256: createHash('sha256').update(png).digest('hex'),
  });
});
