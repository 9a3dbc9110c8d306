import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BSON } from 'mongodb';
import { createSealer } from '../../src/access/sealer.ts';
import { testSealing } from '../support/sealing.ts';
import { createRequestStore, type NewRequest } from '../../src/store/requests.ts';
import { toSealedDocument, type SealedDocument } from '../../src/store/sealed-document.ts';
import { openDatabase } from '../capacity/support.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
let count = 0;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.drop());

const stored = () =>
  database.db.collection<{ _id: string; sealed: SealedDocument; expires?: Date }>('requests');
const open = () => createRequestStore(database.db, () => clock, testSealing);
let clock = 5;
const newRecord = (change: Partial<NewRequest> = {}): NewRequest => ({
  task: `task_${(count += 1)}`,
  account: 'acc',
  request: { kind: 'image', model: 'm', prompt: 'a $sign and a dotted.name', n: 1 } as never,
  callbackToken: 'token',
  deadlineAt: 8,
  warnings: [],
  dropped: [],
  by: 'try',
  ...change,
});

const kept = ({ deadlineAt: _deadlineAt, ...record }: NewRequest) => record;

describe('the request of a task', () => {
  it('is that of the first of several simultaneous tries', async () => {
    const { task } = newRecord();
    const tries = Array.from({ length: 8 }, (_, n) => newRecord({ task, by: `try${n}` }));
    const answers = await Promise.all(tries.map((record) => open().insert(record)));
    const [first = -1, ...others] = answers.flatMap((bytes, n) => (bytes === undefined ? [] : [n]));
    expect(others).toEqual([]);
    expect(await open().find(task)).toEqual(kept(tries[first] ?? newRecord()));
  });

  it('reads as it was written, whatever the names in it', async () => {
    const record = newRecord({
      request: { $set: { 'a.b': 1 }, prompt: 'a boat', kind: 'video' } as never,
      callbackUrl: 'https://me.example/hook?secret=1',
      warnings: ['seed was ignored'],
      by: 'try',
    });
    await open().insert(record);
    expect(await open().find(record.task)).toEqual(kept(record));
  });

  it('is stored sealed, and expires', async () => {
    const secret = 'https://me.example/hook?secret=1';
    const record = newRecord({
      request: { prompt: 'a very private wish', kind: 'video' } as never,
      callbackUrl: secret,
      deadlineAt: 1_000,
    });
    await open().insert(record);
    const written = await stored().findOne({ _id: record.task });
    const bytes = Buffer.from(BSON.serialize(written ?? {})).toString('latin1');
    expect(bytes).toContain(record.account);
    expect(bytes).not.toMatch(/private wish|me\.example|token/);
    const days = 86_400_000;
    expect(written?.expires).toEqual(new Date(1_000 + 30 * days));
    await open().keepUntil(record.task, 5_000);
    const later = await stored().findOne({ _id: record.task });
    expect(later?.expires).toEqual(new Date(5_000 + 30 * days));
  });

  it('reports how many bytes it has sealed', async () => {
    const small = await open().insert(newRecord());
    const large = newRecord({ request: { kind: 'video', prompt: 'x'.repeat(100_000) } as never });
    expect((await open().insert(large)) ?? 0).toBeGreaterThan((small ?? 0) + 99_000);
    expect(await open().insert(large)).toBeUndefined();
  });

  it('is not read once it has expired, whenever MongoDB deletes it', async () => {
    const month = 30 * 86_400_000;
    const record = newRecord({ deadlineAt: 1_000 });
    await open().insert(record);
    clock = month + 999;
    expect(await open().find(record.task)).toEqual(kept(record));
    clock = month + 1_000;
    expect(await open().find(record.task)).toBeUndefined();
    await open().keepUntil(record.task, 2_000);
    expect(await open().find(record.task)).toBeDefined();
    clock = 5;
  });

  it('cannot be read with another key', async () => {
    const record = newRecord();
    await open().insert(record);
    const other = createSealer([Buffer.alloc(32, 7)]);
    await expect(createRequestStore(database.db, () => clock, other).find(record.task)).rejects.toThrow(
      /SECRETS_KEY/,
    );
  });

  it('is not removed by a try from which another has taken it over', async () => {
    const record = newRecord({ by: 'first' });
    await open().insert(record);
    expect(await open().takeOver(record.task, 'second')).toBe(true);
    await open().remove(record.task, 'first');
    expect(await open().find(record.task)).toMatchObject({ by: 'second' });
    await open().remove(record.task, 'second');
    expect(await open().find(record.task)).toBeUndefined();
  });

  it('that was removed by its try cannot be taken over afterwards', async () => {
    const record = newRecord({ by: 'first' });
    await open().insert(record);
    await open().remove(record.task, 'first');
    expect(await open().takeOver(record.task, 'second')).toBe(false);
    expect(await open().find(record.task)).toBeUndefined();
  });

  it('that is not an object is an error, not a request', async () => {
    const requests = stored();
    await requests.insertOne({
      _id: 'broken',
      sealed: toSealedDocument(testSealing.seal({ purpose: 'request', id: 'broken' }, 'null')),
      expires: new Date(9),
    });
    await expect(open().find('broken')).rejects.toThrow();
  });
});
