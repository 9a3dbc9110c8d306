import { afterAll, beforeAll, expect, it } from 'vitest';
import { createExchangeStore } from '../../src/store/exchanges.ts';
import { openDatabase } from '../capacity/support.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
let now = Date.now();
beforeAll(async () => {
  database = await openDatabase();
  await open().ensureIndexes();
});
afterAll(() => database.drop());

const open = () => createExchangeStore(database.db, () => now);
const poll = (task: string, text: string) => ({ task, submits: [], polls: [text] });

it('two concurrent processes lose nothing', async () => {
  const tasks = ['t1', 't2', 't3'];
  const rounds = Array.from({ length: 8 }, (_, n) =>
    open().add(tasks.map((task) => ({ task, submits: n === 0 ? ['submit'] : [], polls: [`poll ${n}`] }))),
  );
  await Promise.all(rounds);
  for (const task of tasks) {
    const found = await open().find(task);
    expect(found[0]).toBe('submit');
    expect(found.slice(1).toSorted()).toEqual(Array.from({ length: 8 }, (_, n) => `poll ${n}`));
  }
});

it('a document stays limited in size, and polls displace no submission', async () => {
  await open().add([{ task: 'long', submits: ['submit'], polls: [] }]);
  for (let n = 0; n < 60; n += 1) await open().add([poll('long', `poll ${n}`)]);
  const found = await open().find('long');
  expect([found.length, found[0], found[1], found.at(-1)]).toEqual([21, 'submit', 'poll 40', 'poll 59']);
});

it('a task without recorded exchanges has none, and expired ones are not read', async () => {
  expect(await open().find('unknown')).toEqual([]);
  await open().add([]);
  await open().add([poll('old', 'one')]);
  expect(await open().find('old')).toEqual(['one']);
  now += 91 * 86_400_000;
  expect(await open().find('old')).toEqual([]);
});
