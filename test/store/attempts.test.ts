import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attemptStates, createAttemptStore } from '../../src/store/attempts.ts';
import type { AttemptDocument } from '../../src/store/attempt-document.ts';
import type { AttemptState } from '../../src/store/attempts.ts';
import { databaseUri } from '../support/run-servers.ts';
import { openDatabase } from '../capacity/support.ts';

const word = { code: 'c', message: 'm' };

describe('the record of an attempt', () => {
  let database: Awaited<ReturnType<typeof openDatabase>>;
  let count = 0;
  beforeAll(async () => {
    database = await openDatabase();
    await open().ensureIndexes();
  });
  afterAll(() => database.drop());

  const open = () => createAttemptStore(database.db, Date.now);
  const fresh = (channel = 'one') => ({
    task: `t${(count += 1)}`,
    n: 1,
    channel,
    credential: 'a',
    marker: 'm',
  });
  const documents = () => database.db.collection<AttemptDocument>('attempts');

  async function inState(state: AttemptState): Promise<string> {
    const attempt = fresh();
    await open().begin(attempt, 'run');
    const id = `${attempt.task}:1`;
    await documents().updateOne({ _id: id }, { $set: { state } });
    return id;
  }
  const stateOf = async (id: string) => (await open().find(id))?.state;

  it('is claimed by one of many simultaneous runs', async () => {
    const attempt = fresh();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => open().begin(attempt, `run${n}`)));
    expect(answers.filter((begun) => begun === undefined)).toHaveLength(1);
  });

  it('is claimed again by one of many runs after a refusal', async () => {
    const attempt = fresh();
    await open().begin(attempt, 'first');
    await open().refuse({ id: `${attempt.task}:1`, owner: 'first' }, 'not_accepted', word);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => open().begin(attempt, `run${n}`)));
    expect(answers.filter((begun) => begun === undefined)).toHaveLength(1);
  });

  it('is either claimed or withdrawn, never both', async () => {
    for (let round = 0; round < 20; round += 1) {
      const attempt = fresh();
      const [begun, withdrawn] = await Promise.all([
        open().begin(attempt, 'run'),
        open().withdraw(attempt, word),
      ]);
      expect(withdrawn.state).toBe(begun === undefined ? 'sending' : 'withdrawn');
    }
  });

  it('lets a late repeat of a refusal change nothing once another run has claimed it', async () => {
    const attempt = fresh();
    const id = `${attempt.task}:1`;
    await open().begin(attempt, 'first');
    expect(await open().refuse({ id, owner: 'first' }, 'not_accepted', word)).toBe(true);
    await open().begin(attempt, 'second');
    expect(await open().refuse({ id, owner: 'first' }, 'not_accepted', word)).toBe(false);
    expect(await stateOf(id)).toBe('sending');
  });

  /** What each operation turns each state into; absent: it stays. */
  const changes: Record<string, Partial<Record<AttemptState, AttemptState>>> = {
    begin: { not_accepted: 'sending' },
    withdraw: { not_accepted: 'withdrawn' },
    accept: { sending: 'accepted', ambiguous: 'accepted' },
    fail: { accepted: 'failed' },
    supersede: { sending: 'abandoned', ambiguous: 'abandoned', not_accepted: 'withdrawn' },
    'refuse as not_accepted': { sending: 'not_accepted' },
    'refuse as rejected': { sending: 'rejected' },
    'refuse as ambiguous': { sending: 'ambiguous' },
  };
  const operations: Record<string, (id: string) => Promise<unknown>> = {
    begin: (id) => open().begin(attemptOf(id), 'other'),
    withdraw: (id) => open().withdraw(attemptOf(id), word),
    accept: (id) => open().accept(id, { channel: 'one' }, { id: `job-of-${id}` }),
    fail: (id) => open().fail(id, word),
    supersede: (id) => open().supersede(id),
    'refuse as not_accepted': (id) => open().refuse({ id, owner: 'run' }, 'not_accepted', word),
    'refuse as rejected': (id) => open().refuse({ id, owner: 'run' }, 'rejected', word),
    'refuse as ambiguous': (id) => open().refuse({ id, owner: 'run' }, 'ambiguous', word),
  };
  const attemptOf = (id: string) => ({ ...fresh(), task: id.replace(/:1$/, '') });

  it.each(
    Object.entries(changes).flatMap(([name, to]) =>
      attemptStates.map((state) => [name, state, to[state] ?? state] as const),
    ),
  )('%s turns %s into %s', async (name, from, to) => {
    const id = await inState(from);
    await operations[name]?.(id);
    expect(await stateOf(id)).toBe(to);
  });

  it('keeps the job that a late answer names after the attempt was abandoned', async () => {
    const id = await inState('abandoned');
    expect(await open().accept(id, { channel: 'one' }, { id: 'late' })).toBe('closed');
    expect(await open().find(id)).toMatchObject({ state: 'abandoned', stray: { id: 'late' } });
  });

  it('keeps why its job failed, and a late repeat of the acceptance changes nothing', async () => {
    const id = await inState('sending');
    const accept = () => open().accept(id, { channel: 'one' }, { id: `job-of-${id}` });
    await accept();
    expect(await open().fail(id, { ...word, failure: { class: 'capacity' } })).toBe(true);
    expect(await open().fail(id, { ...word, failure: { class: 'internal' } })).toBe(true);
    expect(await accept()).toBe('accepted');
    const found = await open().find(id);
    expect(found).toMatchObject({ state: 'failed', ...word, failure: { class: 'capacity' } });
    expect(found).not.toHaveProperty('stray');
  });

  it('without a job cannot fail: nothing is submitted in its place', async () => {
    expect(await open().fail(await inState('ambiguous'), word)).toBe(false);
  });

  it('gives an upstream’s job to one attempt of a channel, and the same id to one of another channel', async () => {
    const ids = await Promise.all(['sending', 'sending', 'sending'].map(() => inState('sending')));
    const [first = '', second = '', third = ''] = ids;
    expect(await open().accept(first, { channel: 'one' }, { id: 'same' })).toBe('accepted');
    expect(await open().accept(first, { channel: 'one' }, { id: 'same' })).toBe('accepted');
    expect(await open().accept(second, { channel: 'one' }, { id: 'same' })).toBe('taken');
    expect(await open().accept(third, { channel: 'two' }, { id: 'same' })).toBe('accepted');
  });

  it('gives no right to send while the document that it collides with cannot be read', async () => {
    const attempt = fresh();
    const id = `${attempt.task}:1`;
    await open().begin(attempt, 'first');
    // As seen by a majority read before the other's insert is of the majority, and after it was rolled back.
    const { db } = database;
    const blind = new Proxy(db, {
      get: (target, name) =>
        name === 'collection'
          ? (...args: Parameters<typeof db.collection>) => {
              const collection = target.collection(...args);
              return new Proxy(collection, {
                get: (inner, member) =>
                  member === 'findOne' ? async () => null : Reflect.get(inner, member).bind(inner),
              });
            }
          : Reflect.get(target, name),
    });
    await expect(createAttemptStore(blind, Date.now).begin(attempt, 'second')).rejects.toThrow(
      /cannot be read/,
    );
    expect(await open().find(id)).toMatchObject({ owner: 'first' });
  });

  it('names majority in every write and in every read that decides, whatever the connection asks for', async () => {
    const client = new MongoClient(databaseUri(database.db.databaseName), {
      monitorCommands: true,
      writeConcern: { w: 1 },
    });
    const seen: { readonly name: string; readonly command: Record<string, unknown> }[] = [];
    client.on('commandStarted', ({ commandName, command }) => void seen.push({ name: commandName, command }));
    const store = createAttemptStore(client.db(), Date.now);
    const attempt = fresh();
    const id = `${attempt.task}:1`;
    await store.begin(attempt, 'run');
    await store.begin(attempt, 'other');
    await store.refuse({ id, owner: 'run' }, 'not_accepted', word);
    await store.withdraw(attempt, word);
    await store.accept(id, { channel: 'one' }, { id: 'x' });
    await store.supersede(id);
    await client.close();
    const writes = seen.filter(({ name }) => name === 'insert' || name === 'update');
    const reads = seen.filter(({ name }) => name === 'find');
    expect(writes.length).toBeGreaterThan(6);
    expect(reads.length).toBeGreaterThan(3);
    for (const { command } of writes) {
      expect(command['writeConcern']).toMatchObject({ w: 'majority', wtimeout: 10_000 });
    }
    for (const { command } of reads) expect(command['readConcern']).toEqual({ level: 'majority' });
  });
});
