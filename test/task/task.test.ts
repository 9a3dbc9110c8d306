import { expect, it } from 'vitest';
import { isTerminal, statusMessages, taskStatuses, unfinishedStatuses } from '../../src/task/task.ts';

it('the last two statuses are final, and every status has a message for its caller', () => {
  expect(taskStatuses.filter(isTerminal)).toEqual(['succeeded', 'failed']);
  expect(unfinishedStatuses.filter(isTerminal)).toEqual([]);
  expect(Object.keys(statusMessages)).toEqual([...taskStatuses]);
  for (const message of Object.values(statusMessages)) expect(message).toMatch(/^[A-Z].*\.$/);
});
