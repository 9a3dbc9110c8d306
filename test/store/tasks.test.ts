import { Collection, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defined } from '../../src/base/defined.ts';
import type { Task } from '../../src/task/record.ts';
import { taskFailures } from '../../src/task/failures.ts';
import { connectMongo } from '../../src/store/mongo.ts';
import { createTaskStore, type TaskStore } from '../../src/store/tasks.ts';
import { openDatabase } from '../capacity/support.ts';
import { databaseUri } from '../support/run-servers.ts';
import { firstRecord, secondCandidate, succeededWith, taskDriver } from '../support/task-records.ts';
import { testSealing } from '../support/sealing.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
let tasks: TaskStore;
let count = 0;
beforeAll(async () => {
  database = await openDatabase();
  tasks = createTaskStore(database.db, Date.now, testSealing);
  await tasks.ensureIndexes();
});
afterAll(() => database.drop());

async function newTask(change: Partial<Task> = {}): Promise<string> {
  const id = `task_${(count += 1)}`;
  await tasks.insert(firstRecord(id, change));
  return id;
}

async function idsOf(found: AsyncIterable<Task>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of found) ids.push(id);
  return ids;
}

const drive = (): ReturnType<typeof taskDriver> => taskDriver(tasks);

describe('a record', () => {
  it('reads as it was written', async () => {
    const record = firstRecord('task_whole', {
      hold: 9_007_199_254_740_993n,
      estimate: 5n,
      hasCallback: true,
      plan: {
        candidates: [secondCandidate],
        fallback: { candidates: [], on: ['capacity'], neededSeconds: 7 },
      },
    });
    expect(await tasks.insert(record)).toBe(true);
    expect(await tasks.find('task_whole')).toEqual(record);
    expect(await createTaskStore(database.db, Date.now, testSealing).look('task_whole')).toEqual(record);
    expect(await tasks.findMany(['task_whole', 'task_none'])).toEqual([record]);
  });

  it('that has ended reads as the step that ended it returned it', async () => {
    const id = await newTask();
    await drive().polled(id, succeededWith('https://files.example/a.mp4'));
    const ended = { kind: 'ended', status: 'succeeded', charge: 7n, chargeEstimated: true } as const;
    const task = await drive().step(id, ended);
    expect(await tasks.find(id)).toEqual(task);
    expect(task).toMatchObject({
      state: { at: 'ended' },
      status: 'succeeded',
      charge: 7n,
      chargeEstimated: true,
    });
  });

  it('is inserted once, by one of several simultaneous creations, and is not changed by the others', async () => {
    const id = `task_${(count += 1)}`;
    const tries = Array.from({ length: 8 }, (_, n) => firstRecord(id, { hold: BigInt(n) }));
    const answers = await Promise.all(
      tries.map((record) => createTaskStore(database.db, Date.now, testSealing).insert(record)),
    );
    expect(answers.filter((isFirst) => isFirst)).toHaveLength(1);
    expect((await tasks.find(id))?.hold).toBe(BigInt(answers.indexOf(true)));
  });

  it('that does not exist is undefined', async () => {
    expect(await tasks.find('task_none')).toBeUndefined();
    expect(await tasks.look('task_none')).toBeUndefined();
    expect(await tasks.ownerOf('one/none')).toBeUndefined();
    expect(await tasks.findByUpstreamId('none')).toBeUndefined();
  });
});

describe('the task of an upstream’s job', () => {
  it('is the newest of those whose channels use the same id', async () => {
    const [older, newer] = [await newTask({ createdAt: 10 }), await newTask({ createdAt: 20 })];
    await drive().accept(newer, 'shared');
    const n = await drive().send(older, secondCandidate);
    await drive().step(older, { kind: 'accepted', n, operation: { id: 'shared' } });
    expect(await tasks.findByUpstreamId('shared')).toMatchObject({ id: newer });
    expect([await tasks.ownerOf('one/shared'), await tasks.ownerOf('two/shared')]).toEqual([newer, older]);
  });
});

describe('lists', () => {
  const account = 'lists';
  const made: string[] = [];
  beforeAll(async () => {
    for (let n = 0; n < 5; n += 1) made.push(await newTask({ account, createdAt: 1_000 * (n + 1) }));
  });

  it('show the newest first, a page at a time, and whether there are more', async () => {
    const newest = made.toReversed();
    const first = await tasks.list({ account }, { limit: 3 });
    expect([first.tasks.map(({ id }) => id), first.hasMore]).toEqual([newest.slice(0, 3), true]);
    const second = await tasks.list({ account }, { limit: 3, ...defined({ after: first.tasks.at(-1) }) });
    expect([second.tasks.map(({ id }) => id), second.hasMore]).toEqual([newest.slice(3), false]);
  });

  it('continue behind a task that is removed', async () => {
    const removed = { id: 'task_none', createdAt: 3_500 };
    const { tasks: found } = await tasks.list({ account }, { limit: 3, after: removed });
    expect(found.map(({ id }) => id)).toEqual(made.slice(0, 3).toReversed());
  });

  it('contain the tasks that the filter matches', async () => {
    const other = await newTask({ account: 'other' });
    const found = await tasks.listThese([...made, other, 'task_none'], { account, createdAfter: 3 });
    expect(found.map(({ id }) => id)).toEqual(made.slice(2));
  });
});

describe('the reads of the reconciler', () => {
  it('every unfinished task, the most urgent of each status first, and none that has ended', async () => {
    const late = await newTask({ deadlineAt: 9_000 });
    const soon = await newTask({ deadlineAt: 5 });
    const submitted = await newTask({ deadlineAt: 7 });
    const ended = await newTask({ deadlineAt: 3 });
    await drive().accept(submitted);
    await drive().fail(ended, taskFailures.upstream);
    const ids = await idsOf(tasks.unfinished());
    const these = [soon, late, submitted];
    expect(ids.filter((id) => these.includes(id))).toEqual(these);
    expect(ids).not.toContain(ended);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('tasks that ask for an operator, by reason, until they no longer do', async () => {
    const [lost, overdue] = [await newTask(), await newTask()];
    await drive().ask(lost);
    await drive().accept(overdue);
    await tasks.setConcern(overdue, 'overdue');
    expect(await idsOf(tasks.asking('submit_ambiguous'))).toEqual([lost]);
    expect(await idsOf(tasks.asking('overdue'))).toEqual([overdue]);
    await drive().step(lost, { kind: 'resumed' });
    await drive().fail(overdue, taskFailures.upstream);
    expect(await idsOf(tasks.asking('submit_ambiguous'))).toEqual([]);
    expect(await idsOf(tasks.asking('overdue'))).toEqual([]);
  });

  it('tasks that have ended and whose callers were not notified', async () => {
    const [waiting, owing, silent] = [
      await newTask({ hasCallback: true }),
      await newTask({ hasCallback: true }),
      await newTask(),
    ];
    for (const id of [owing, silent]) await drive().fail(id, taskFailures.upstream);
    const ids = await idsOf(tasks.owing());
    expect(ids).toContain(owing);
    expect(ids).not.toContain(waiting);
    expect(ids).not.toContain(silent);
  });
});

describe('whatever the connection string says', () => {
  const weaker = (): string => {
    const uri = new URL(databaseUri(database.db.databaseName));
    uri.searchParams.set('readPreference', 'secondary');
    uri.searchParams.set('w', '1');
    uri.searchParams.set('readConcernLevel', 'local');
    return uri.toString();
  };

  it('the connection reads from the primary and writes to the majority', async () => {
    const mongo = await connectMongo(weaker());
    const { readPreference, writeConcern, readConcern } = mongo.db;
    expect([readPreference?.mode, writeConcern?.w, readConcern?.level]).toEqual([
      'primary',
      'majority',
      'majority',
    ]);
    expect(mongo.client.options.readPreference.mode).toBe('primary');
    await mongo.close();
  });

  it('every read and write of a record states this explicitly', async () => {
    const client = new MongoClient(weaker(), {
      monitorCommands: true,
      useBigInt64: true,
      ignoreUndefined: true,
    });
    const seen: { readonly name: string; readonly command: Record<string, unknown> }[] = [];
    client.on('commandStarted', ({ commandName, command }) => void seen.push({ name: commandName, command }));
    // With a single server, the driver chooses its own read preference. Check the one that it would send to a replica
    // set.
    const used: (string | undefined)[] = [];
    const db = new Proxy(client.db(), {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...asked: unknown[]) => {
          const made: unknown = member.apply(target, asked);
          if (made instanceof Collection) used.push(made.readPreference?.mode);
          return made;
        };
      },
    });
    const store = createTaskStore(db, Date.now, testSealing);
    const driver = taskDriver(store);
    const id = `task_${(count += 1)}`;
    await store.insert(firstRecord(id, { hasCallback: true }));
    await store.setWait(id, { cause: 'slot' });
    await driver.accept(id);
    await store.step(id, { kind: 'approved' });
    await store.setConcern(id, 'overdue');
    await store.recordProgress(id, { progress: 1 });
    await driver.fail(id, taskFailures.upstream);
    const round = { task: id, round: 'own', target: 't' };
    await store.beginCallback(round);
    await store.recordCallback(round, { at: 1, durationMs: 1 }, 'gave_up');
    await store.find(id);
    store.forget(id);
    await store.look(id);
    await store.findMany([id]);
    await store.ownerOf('one/none');
    await store.list({}, { limit: 1 });
    await idsOf(store.owing());
    await store.removeAbandoned(id);
    await client.close();
    const writes = seen.filter(({ name }) => ['insert', 'update', 'delete', 'findAndModify'].includes(name));
    const reads = seen.filter(({ name }) => name === 'find');
    expect(used).toEqual(['primary']);
    expect(writes.length).toBeGreaterThan(9);
    expect(reads.length).toBeGreaterThan(5);
    for (const { command } of writes) {
      expect(command['writeConcern']).toMatchObject({ w: 'majority', wtimeout: 20_000 });
    }
    for (const { command } of reads) {
      expect(command['readConcern']).toEqual({ level: 'majority' });
    }
  });
});
