import { testSealing } from '../support/sealing.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRepeatStore } from '../../src/store/repeats.ts';
import { openDatabase } from '../capacity/support.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
/** The time is far in the future, because MongoDB may remove expired documents at any moment. */
let clock = 4_200_000_000_000;
let count = 0;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.drop());

const open = () => createRepeatStore(database.db, () => clock, testSealing);
const newClaim = (change: { made?: string; isAwaited?: true } = {}) => ({
  id: `key${(count += 1)}`,
  made: `made${count}`,
  fingerprint: 'f',
  keptMs: 1000,
  ...change,
});
const bytes = (text: string) => new Uint8Array(Buffer.from(text));
const contender = (id: string, n: number) => ({ id, made: `by${n}`, fingerprint: 'f', keptMs: 1000 });

describe('a claim', () => {
  it('belongs to one of many simultaneous callers; the others learn what it creates', async () => {
    const { id } = newClaim();
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => open().claim(contender(id, n))));
    const winner = answers.indexOf(undefined);
    const others = answers.filter((answer) => answer !== undefined);
    expect(others).toHaveLength(11);
    expect(new Set(others.map(({ made }) => made))).toEqual(new Set([`by${winner}`]));
  });

  it('that has expired goes to one of many simultaneous callers', async () => {
    const claim = newClaim();
    await open().claim(claim);
    clock += claim.keptMs;
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => open().claim(contender(claim.id, n))),
    );
    expect(answers.filter((answer) => answer === undefined)).toHaveLength(1);
    expect(answers.filter((answer) => answer?.made === claim.made)).toEqual([]);
  });

  it('lasts exactly until its end', async () => {
    const claim = newClaim();
    await open().claim(claim);
    clock += claim.keptMs - 1;
    expect(await open().find(claim.id)).toMatchObject({ made: claim.made });
    expect(await open().claim(contender(claim.id, 1))).toMatchObject({ made: claim.made });
    clock += 1;
    expect(await open().find(claim.id)).toBeUndefined();
    expect(await open().claim(contender(claim.id, 1))).toBeUndefined();
  });

  it('that expired is no longer changed, completed or forgotten by its first owner', async () => {
    const first = newClaim({ isAwaited: true });
    await open().claim(first);
    const second = { ...first, made: 'second', fingerprint: 'g' };
    clock += first.keptMs;
    await open().claim(second);
    await open().renew(first);
    await open().store(first, { status: 500, mayRetry: false, body: [bytes('old')] });
    await open().complete(first);
    await open().forget(first);
    expect(await open().find(first.id)).toEqual({
      id: first.id,
      made: 'second',
      fingerprint: 'g',
      state: 'running',
      beat: 0,
    });
    await expect(open().readBody(first.made, 1)).rejects.toThrow('missing');
    await open().forget(second);
    expect(await open().find(first.id)).toBeUndefined();
  });
});

describe('an answer', () => {
  it('is kept before it is paid for, and done afterwards', async () => {
    const claim = newClaim({ isAwaited: true });
    await open().claim(claim);
    await open().renew(claim);
    expect(await open().find(claim.id)).toMatchObject({ state: 'running', beat: 1 });
    await open().store(claim, { status: 200, mayRetry: true, body: [bytes('ab'), bytes(''), bytes('c')] });
    const answer = { status: 200, mayRetry: true, documents: 1 };
    expect(await open().find(claim.id)).toMatchObject({ state: 'stored', answer });
    await open().complete(claim);
    expect(await open().find(claim.id)).toMatchObject({ state: 'done', answer });
    expect(Buffer.concat(await open().readBody(claim.made, 1)).toString()).toBe('abc');
  });

  it('of more than one document is returned byte for byte, even if it was stored twice', async () => {
    const claim = newClaim({ isAwaited: true });
    await open().claim(claim);
    const mebibyte = 1024 * 1024;
    const body = [1, 2, 3].map((fill) => new Uint8Array(3 * mebibyte).fill(fill));
    await open().store(claim, { status: 200, mayRetry: true, body });
    await open().store(claim, { status: 200, mayRetry: true, body });
    expect((await open().find(claim.id))?.answer?.documents).toBe(3);
    const read = await open().readBody(claim.made, 3);
    expect(Math.max(...read.map(({ length }) => length))).toBe(4 * mebibyte);
    expect(Buffer.compare(Buffer.concat(read), Buffer.concat(body))).toBe(0);
    await expect(open().readBody(claim.made, 4)).rejects.toThrow('part 3');
  });

  it('that was too large to store, or may not be retried, is marked as such', async () => {
    const claim = newClaim({ isAwaited: true });
    await open().claim(claim);
    await open().store(claim, { status: 502, mayRetry: false });
    expect((await open().find(claim.id))?.answer).toEqual({ status: 502, mayRetry: false });
  });

  it('expires together with its claim', async () => {
    const claim = newClaim({ isAwaited: true });
    await open().claim(claim);
    await open().store(claim, { status: 200, mayRetry: true, body: [bytes('x')] });
    const record = await database.db
      .collection<{ _id: string; expires?: Date }>('idempotency')
      .findOne({ _id: claim.id });
    const body = await database.db
      .collection<{ _id: string; expires?: Date }>('image_result_bodies')
      .findOne({ _id: `${claim.made}/0` });
    expect(record?.expires).toEqual(new Date(clock + claim.keptMs));
    expect(body?.expires).toEqual(record?.expires);
  });
});

it('a record without a state belongs to a task, and is done', async () => {
  const known = { made: 'task_1', fingerprint: 'f', expires: new Date(clock + 1000) };
  const records = database.db.collection<{ _id: string; expires?: Date }>('idempotency');
  await records.insertOne({ _id: 'known', ...known });
  const read = { made: 'task_1', fingerprint: 'f', state: 'done', beat: 0 };
  expect(await open().find('known')).toEqual({ id: 'known', ...read });
});
