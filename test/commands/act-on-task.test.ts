import { expect, it } from 'vitest';
import type { TaskStatus } from '../../src/task/task.ts';
import { recordedAct } from '../../src/commands/act-on-task.ts';
import { newTask } from '../support/task-model.ts';

function acted(action: string, status: TaskStatus) {
  const act = { id: 'act-1', at: 0, by: 'ada', action, reason: 'r', detail: 'It was done.' };
  return { ...newTask(), status, actions: [{ ...act, id: 'act-0' }, act] };
}

it.each([
  ['fail', 'failed'],
  ['cancel', 'failed'],
  ['complete', 'succeeded'],
  ['accept_charge', 'succeeded'],
] as const)(
  'an act in the record is known by the id of its update: %s, and the task has %s',
  (action, status) => {
    expect(recordedAct(acted(action, status), 'act-1')).toMatchObject({
      id: 'act-1',
      detail: 'It was done.',
    });
  },
);

it.each(['fail', 'cancel'])('%s of a task that was charged anyway had no effect', (action) => {
  expect(recordedAct(acted(action, 'succeeded'), 'act-1')).toBeUndefined();
});

it('nothing is known of an act that is not recorded, or without a record', () => {
  expect(recordedAct(acted('fail', 'failed'), 'act-2')).toBeUndefined();
  expect(recordedAct(newTask(), 'act-1')).toBeUndefined();
  expect(recordedAct(undefined, 'act-1')).toBeUndefined();
});
