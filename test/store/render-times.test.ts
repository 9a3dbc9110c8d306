import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRenderTimesStore, renderId } from '../../src/store/render-times.ts';
import { openDatabase } from '../capacity/support.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
beforeAll(async () => {
  database = await openDatabase();
  await open().ensureIndexes();
});
afterAll(() => database.drop());

const open = () => createRenderTimesStore(database.db, Date.now);
const kind = { channel: 'ark', model: 'seedance', output: '720p/5' };
const find = async (id: string) => (await open().list()).find((record) => record.id === id);

it('keeps the last renders of each kind, from all processes, and no more than a few dozen', async () => {
  const at = 1_700_000_000_000;
  await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      open().add(
        kind,
        [1, 2, 3].map((m) => ({ ms: n * 10 + m, at })),
      ),
    ),
  );
  const record = await find(renderId(kind));
  expect(record).toMatchObject(kind);
  expect(record?.samples).toHaveLength(48);
  expect(new Set(record?.samples.map(({ ms }) => ms)).size).toBe(48);
});

it('reads any stored content without trusting it', async () => {
  const renders = database.db.collection<{ _id: string; [name: string]: unknown }>('render_times');
  const good = { ms: 5, at: 1 };
  await renders.insertMany([
    { _id: 'no|samples|x', channel: 'no', model: 'samples', output: 'x' },
    { _id: 'odd|types|x', channel: 7, model: null, output: 'x', samples: [good] },
    {
      _id: 'odd|samples|x',
      channel: 'odd',
      model: 'samples',
      output: 'x',
      samples: [good, 'x', { ms: -1, at: 1 }, { ms: 'NaN', at: 1 }, { at: 1 }, null],
    },
  ]);
  expect(await find('no|samples|x')).toBeUndefined();
  expect(await find('odd|types|x')).toBeUndefined();
  expect((await find('odd|samples|x'))?.samples).toEqual([good]);
});
