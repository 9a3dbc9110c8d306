import { Option } from 'commander';
import { z } from 'zod';
import type { Command } from 'commander';
import { failureClasses } from '../domain/failure.ts';
import { taskStatuses } from '../domain/task.ts';
import type { Row } from './admin-client.ts';
import { addTaskAction, queryMeaning } from './task-action.ts';
import { adminCommand, noteMore } from './context.ts';
import type { CliContext } from './context.ts';
import { addRecordCommands } from './show-task.ts';

export const taskColumns = [
  'id',
  'account',
  'model',
  'status',
  'channel',
  'hold',
  'charge',
  'waits_for',
  'age',
];

/** What a list has room for: why a task waits, and for how long it has. */
function listed(row: Row): Row {
  const { data } = waitSchema.safeParse(row['situation']);
  if (data === undefined) return row;
  return { ...row, waits_for: data.waits_for, age: formatAge(Date.now() / 1000 - data.since) };
}

const waitSchema = z.object({ waits_for: z.string().nullable(), since: z.number() });

/** The two largest units: `45s`, `12m5s`, `3h7m`, `2d4h`. */
export function formatAge(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const units = [
    ['d', Math.floor(whole / 86_400)],
    ['h', Math.floor(whole / 3600) % 24],
    ['m', Math.floor(whole / 60) % 60],
    ['s', whole % 60],
  ] as const;
  const first = units.findIndex(([, count]) => count > 0);
  if (first < 0) return '0s';
  return units
    .slice(first, first + 2)
    .filter(([, count]) => count > 0)
    .map(([unit, count]) => `${count}${unit}`)
    .join('');
}

interface TaskFilterOptions {
  readonly status?: string;
  readonly class?: string;
  readonly account?: string;
  readonly channel?: string;
  readonly model?: string;
  readonly upstreamId?: string;
  readonly needsAttention?: true;
  readonly overdue?: true;
  readonly callbackFailed?: true;
  readonly query?: string;
  readonly page?: string;
  readonly limit?: string;
  readonly after?: string;
}

export function addTaskCommands(tasks: Command, context: CliContext): void {
  tasks
    .command('list')
    .addOption(new Option('--status <status>').choices(taskStatuses))
    .addOption(new Option('--class <class>', 'failed tasks of this class').choices(failureClasses))
    .option('--account <id>')
    .option('--channel <id>')
    .option('--model <id>')
    .option('--query <query>', queryMeaning)
    .option('--page <page>', 'with --query: the next page')
    .option('--upstream-id <id>', 'the task of an upstream job')
    .option('--needs-attention', 'only those that wait for an operator')
    .option('--overdue', 'only those that take five times as long as usual')
    .option('--callback-failed', 'only those whose callback was abandoned')
    .option('--limit <n>')
    .option('--after <id>')
    .action(
      adminCommand(
        context,
        async (
          { client, output },
          { needsAttention, overdue, callbackFailed, upstreamId, ...options }: TaskFilterOptions,
        ) => {
          const { rows, hasMore, next } = await client.list('/tasks', {
            ...options,
            upstream_id: upstreamId,
            attention: overdue === true ? 'overdue' : undefined,
            needs_attention: needsAttention === true ? 'true' : undefined,
            callback_failed: callbackFailed === true ? 'true' : undefined,
          });
          output.rows(output.isJson ? rows : rows.map(listed), taskColumns);
          if (next === undefined) noteMore(output, hasMore, rows.at(-1)?.['id']);
          else output.note(`More results: --page ${next}`);
        },
      ),
    );

  addRecordCommands(tasks, context);
  addTaskAction(tasks, context);
}
