import { Option, type Command } from 'commander';
import { z } from 'zod';
import { failureClasses } from '../errors/failure.ts';
import { taskStatuses } from '../task/task.ts';
import type { Row } from './admin-client.ts';
import { addTaskAction, queryMeaning } from './task-action.ts';
import { lookCommand, noteMore, type CliContext } from './context.ts';
import { examples } from './program.js';
import { addRecordCommands } from './show-task.ts';

export const taskTable = {
  columns: ['id', 'account', 'model', 'status', 'waits_for', 'channel', 'since'],
  more: [
    'hold',
    'charge',
    'cost',
    'margin',
    'cost_state',
    'upstream_id',
    'created_at',
    'deadline_at',
    'what',
  ],
  shown(task: Row): Row {
    const { data } = situationSchema.safeParse(task['situation']);
    return { ...task, ...data };
  },
};

const situationSchema = z.object({ waits_for: z.string().nullable(), since: z.number(), what: z.string() });

interface TaskFilterOptions {
  readonly status?: string;
  readonly class?: string;
  readonly account?: string;
  readonly channel?: string;
  readonly waitingFor?: string;
  readonly model?: string;
  readonly upstreamId?: string;
  readonly needsAttention?: true;
  readonly overdue?: true;
  readonly callbackFailed?: true;
  readonly callbackFailing?: true;
  readonly query?: string;
  readonly page?: string;
  readonly limit?: string;
  readonly after?: string;
}

export function addTaskCommands(tasks: Command, context: CliContext): void {
  tasks
    .command('list')
    .description('Lists tasks of all accounts, newest first.')
    .addHelpText(
      'after',
      examples(
        'tasks list --needs-attention',
        'tasks list --account acme --status failed --class capacity',
        'tasks list --query \'NeedsAttention = "submit_ambiguous" AND MediaModel = "clip-1"\'',
      ),
    )
    .addOption(new Option('--status <status>').choices(taskStatuses))
    .addOption(new Option('--class <class>', 'failed tasks of this class').choices(failureClasses))
    .option('--account <id>')
    .option('--channel <id>')
    .option('--waiting-for <channel>', 'only unsubmitted tasks that are waiting for this channel')
    .option('--model <id>')
    .option('--query <query>', queryMeaning)
    .option('--page <page>', 'with --query: the next page')
    .option('--upstream-id <id>', 'only the task of this upstream job')
    .option('--needs-attention', 'only tasks that are waiting for an operator')
    .option('--overdue', 'only tasks that are taking five times as long as usual')
    .option('--callback-failed', 'only tasks with an abandoned callback')
    .option('--callback-failing', 'only tasks with a failing callback that is being retried')
    .option('--limit <n>')
    .option('--after <id>')
    .action(
      lookCommand(
        context,
        async (
          { client, output },
          {
            needsAttention,
            overdue,
            callbackFailed,
            callbackFailing,
            upstreamId,
            waitingFor,
            ...options
          }: TaskFilterOptions,
        ) => {
          const { rows, hasMore, next } = await client.list('/tasks', {
            ...options,
            upstream_id: upstreamId,
            waiting_for: waitingFor,
            attention: overdue === true ? 'overdue' : undefined,
            needs_attention: needsAttention === true ? 'true' : undefined,
            callback_failed: callbackFailed === true ? 'true' : undefined,
            callback_failing: callbackFailing === true ? 'true' : undefined,
          });
          output.rows(rows, taskTable);
          if (next === undefined) noteMore(output, hasMore, rows.at(-1)?.['id']);
          else output.more(`--page ${next}`);
        },
      ),
    );

  addRecordCommands(tasks, context);
  addTaskAction(tasks, context);
}
