import { Readable } from 'node:stream';
import { afterAll, expect, it } from 'vitest';
import { createMeasureResult } from '../../src/media/measure-result.ts';
import { createMediaProbe } from '../../src/media/media-probe.ts';
import type { ResultItem } from '../../src/task/task.ts';
import { clipOf } from '../../workshop/simulator/media/clips.ts';

const probe = createMediaProbe();
afterAll(() => probe.close());

const film = clipOf({ width: 1280, height: 704, seconds: 8 });
const facts = { mediaType: 'video/mp4', width: 1280, height: 704, seconds: expect.closeTo(8, 2) };
const url = 'https://cdn.example/a.mp4';

const storage = {
  stat: (key: string) =>
    Promise.resolve(key === 'task_1/other.mp4' ? undefined : { bytes: film.length, etag: '"1"' }),
  read: (key: string, { start, end }: { start: number; end: number }) =>
    key === 'task_1/hanging.mp4'
      ? new Promise<never>(() => undefined)
      : Promise.resolve(Readable.from([film.subarray(start, end + 1)])),
};
const measureOf = (account: string, item: ResultItem, opened: string[] = []) =>
  createMeasureResult({
    probe,
    storage,
    async openLink(channel, { url: address, range, headers }) {
      opened.push(`${channel} ${address} ${headers?.['authorization'] ?? ''}`);
      if (address !== url) throw new Error('gone');
      const { start, end } = range ?? { start: 0, end: film.length - 1 };
      const part = film.subarray(start, end + 1);
      async function* body() {
        yield part;
      }
      return { mediaType: 'video/mp4', bytes: part.length, partOf: film.length, body: body() };
    },
  })({ task: 'task_1', account, item, channel: 'c', headersFor: () => ({ authorization: 'key' }) });
const measured = (item: ResultItem, opened?: string[]) => measureOf('a', item, opened);

it('reads our own copy, and sends no request to the upstream', async () => {
  const opened: string[] = [];
  const stored = { name: '0.mp4', sha256: '', at: 0 };
  expect(await measured({ url, stored }, opened)).toEqual(facts);
  expect(opened).toEqual([]);
});

it('reads the linked file with the channel’s own headers if nothing is stored', async () => {
  const opened: string[] = [];
  expect(await measured({ url }, opened)).toEqual(facts);
  expect(new Set(opened)).toEqual(new Set([`c ${url} key`]));
});

it.each<[string, ResultItem]>([
  ['has no link', {}],
  ['is gone', { url: 'https://cdn.example/gone.mp4' }],
  ['is no longer stored', { url, stored: { name: 'other.mp4', sha256: '', at: 0 } }],
])('a result that %s is not measured', async (_, item) => {
  expect(await measured(item)).toBeUndefined();
});

it('measures one account’s result while others of the same channel hang', async () => {
  const hanging = { stored: { name: 'hanging.mp4', sha256: '', at: 0 } };
  for (let n = 0; n < 10; n += 1) void measureOf('attacker', hanging);
  expect(await measureOf('victim', { url })).toEqual(facts);
});
