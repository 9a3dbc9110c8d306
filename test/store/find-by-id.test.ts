import { MongoNetworkError, MongoNetworkTimeoutError, MongoServerError } from 'mongodb';
import type { Collection, Db } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFindById } from '../../src/store/find-by-id.ts';
import type { TaskDocument } from '../../src/store/task-document.ts';
import { createTaskStore } from '../../src/store/tasks.ts';
import { openDatabase } from '../capacity/support.ts';
import { firstRecord } from '../support/task-records.ts';
import { testSealing } from '../support/sealing.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
let tasks: Collection<TaskDocument>;
beforeAll(async () => {
  database = await openDatabase();
  tasks = database.db.collection<TaskDocument>('tasks');
  await createTaskStore(database.db, Date.now, testSealing).insert(firstRecord('task_1'));
});
afterAll(() => database.drop());

function failing(error: Error): Db {
  return new Proxy(database.db, {
    get: (db, name) =>
      name === 'command' ? () => Promise.reject(error) : (Reflect.get(db, name) as unknown),
  });
}

it('returns the same as findOne', async () => {
  const find = createFindById(database.db, tasks);
  expect(await find('task_1')).toEqual(await tasks.findOne({ _id: 'task_1' }));
  expect(await find('task_1')).toMatchObject({ _id: 'task_1', hold: 1n, createdAt: 1 });
  expect(await find('task_2')).toBeUndefined();
});

it.each([
  ['a lost connection', new MongoNetworkError('connection 1 closed')],
  ['a server that is no longer the primary', new MongoServerError({ message: 'not primary', code: 10_107 })],
])('reads once more after %s', async (_, error) => {
  expect(await createFindById(failing(error), tasks)('task_1')).toMatchObject({ _id: 'task_1' });
  expect(await createFindById(failing(error), tasks)('task_2')).toBeUndefined();
});

it('does not repeat a read that timed out', async () => {
  const error = new MongoNetworkTimeoutError('timed out');
  await expect(createFindById(failing(error), tasks)('task_1')).rejects.toBe(error);
});

describe('many at once', () => {
  const ids = Array.from({ length: 40 }, (_, n) => `task_many_${n}`);
  beforeAll(async () => {
    const store = createTaskStore(database.db, Date.now, testSealing);
    for (const id of ids) await store.insert(firstRecord(id));
  });

  it('get their own documents with fewer reads', async () => {
    let commands = 0;
    const counting = new Proxy(database.db, {
      get: (db, name) =>
        name === 'command'
          ? (...sent: Parameters<Db['command']>) => {
              commands += 1;
              return db.command(...sent);
            }
          : (Reflect.get(db, name) as unknown),
    });
    const find = createFindById(counting, tasks);
    const asked = [...ids, 'task_none', ...ids];
    const found = await Promise.all(asked.map((id) => find(id)));
    expect(found.map((document) => document?._id)).toEqual([...ids, undefined, ...ids]);
    expect(commands).toBeLessThan(10);
  });

  it('are read once more after a lost connection', async () => {
    const find = createFindById(failing(new MongoNetworkError('connection 1 closed')), tasks);
    const found = await Promise.all(ids.map((id) => find(id)));
    expect(found.map((document) => document?._id)).toEqual(ids);
  });
});
