import { expect, it } from 'vitest';
import { createActIds } from '../../src/access/act-ids.ts';

const ids = createActIds(Buffer.alloc(32, 1));
const act = { task: 'task_1', action: 'fail', by: 'anna' };

it('an id that the API created proves which operator acted', () => {
  expect(ids.actorOf({ ...act, id: ids.newId(act) })).toBe('anna');
  expect(ids.newId(act)).not.toBe(ids.newId(act));
});

it.each([
  ['another name', { ...act, by: 'admin' }],
  ['another task', { ...act, task: 'task_2' }],
  ['another act', { ...act, action: 'complete' }],
])('is not the proof of %s', (_, other) => {
  expect(ids.actorOf({ ...other, id: ids.newId(act) })).toBe(`temporal:${other.by}`);
});

it.each(['', 'api-1', 'a.b', '.', createActIds(Buffer.alloc(32, 2)).newId(act)])(
  'the id %j proves nothing about its sender',
  (id) => {
    expect(ids.actorOf({ ...act, id })).toBe('temporal:anna');
  },
);
