import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isTerminal,
  nextStatus,
  statusMessages,
  statusesBefore,
  taskStatuses,
} from '../../src/domain/task.ts';
import type { TaskStatus } from '../../src/domain/task.ts';

const status = fc.constantFrom(...taskStatuses);

describe('nextStatus', () => {
  /** Rows: from; columns: reported, in the order of taskStatuses. */
  const table: Record<TaskStatus, readonly TaskStatus[]> = {
    pending: ['pending', 'submitted', 'running', 'succeeded', 'failed'],
    submitted: ['submitted', 'submitted', 'running', 'succeeded', 'failed'],
    running: ['running', 'running', 'running', 'succeeded', 'failed'],
    succeeded: ['succeeded', 'succeeded', 'succeeded', 'succeeded', 'succeeded'],
    failed: ['failed', 'failed', 'failed', 'failed', 'failed'],
  };

  it.each(taskStatuses)('from %s', (from) => {
    expect(taskStatuses.map((reported) => nextStatus(from, reported))).toEqual(table[from]);
  });

  it('leads, through any reports in any order, forward only and to one end', () => {
    fc.assert(
      fc.property(fc.array(status, { maxLength: 20 }), (reports) => {
        const path: TaskStatus[] = ['pending'];
        for (const report of reports) path.push(nextStatus(path.at(-1) ?? 'pending', report));
        const changes = path.filter((entry, index) => entry !== path[index - 1]);
        expect(new Set(changes).size).toBe(changes.length);
        expect(changes.filter(isTerminal).length).toBeLessThanOrEqual(1);
        const order = changes.map((entry) => taskStatuses.indexOf(entry));
        expect(order).toEqual(order.toSorted((a, b) => a - b));
        const firstEnd = reports.find(isTerminal);
        expect(path.at(-1)).toBe(firstEnd ?? path.at(-1));
      }),
    );
  });

  it('changes nothing when a report is repeated', () => {
    fc.assert(
      fc.property(status, status, (from, report) => {
        const once = nextStatus(from, report);
        expect(nextStatus(once, report)).toBe(once);
      }),
    );
  });
});

describe('statusesBefore', () => {
  it.each<[TaskStatus, TaskStatus[]]>([
    ['pending', []],
    ['submitted', ['pending']],
    ['running', ['pending', 'submitted']],
    ['succeeded', ['pending', 'submitted', 'running']],
    ['failed', ['pending', 'submitted', 'running']],
  ])('%s: %j', (target, before) => {
    expect(statusesBefore(target)).toEqual(before);
  });

  it('as the guard of a write allows exactly what the transition rule does', () => {
    fc.assert(
      fc.property(status, status, (from, target) => {
        const moves = from !== target && nextStatus(from, target) === target;
        expect(statusesBefore(target).includes(from)).toBe(moves);
      }),
    );
  });
});

it('the two ends are terminal, and every status has words for its caller', () => {
  expect(taskStatuses.filter(isTerminal)).toEqual(['succeeded', 'failed']);
  expect(Object.keys(statusMessages)).toEqual([...taskStatuses]);
  for (const message of Object.values(statusMessages)) expect(message).toMatch(/^[A-Z].*\.$/);
});
