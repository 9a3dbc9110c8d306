import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import { failureClasses } from '../domain/failure.ts';
import { taskStatuses } from '../domain/task.ts';
import { operatorActions } from '../domain/task-input.ts';
import { adminCommand, noteMore } from './context.ts';
import type { CliContext } from './context.ts';

const columns = [
  'id',
  'account',
  'model',
  'status',
  'channel',
  'hold',
  'charge',
  'created_at',
  'needs_attention',
];

interface TaskFilterOptions {
  readonly status?: string;
  readonly class?: string;
  readonly account?: string;
  readonly channel?: string;
  readonly model?: string;
  readonly upstreamId?: string;
  readonly needsAttention?: true;
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
    .option('--upstream-id <id>', 'the task of an upstream job')
    .option('--needs-attention', 'only those that wait for an operator')
    .option('--limit <n>')
    .option('--after <id>')
    .action(
      adminCommand(
        context,
        async ({ client, output }, { needsAttention, upstreamId, ...options }: TaskFilterOptions) => {
          const { rows, hasMore } = await client.list('/tasks', {
            ...options,
            upstream_id: upstreamId,
            needs_attention: needsAttention === true ? 'true' : undefined,
          });
          output.rows(rows, columns);
          noteMore(output, hasMore, rows.at(-1)?.['id']);
        },
      ),
    );

  tasks
    .command('show')
    .description('Shows a task with its attempts, ledger entries, callbacks and actions.')
    .argument('<id>')
    .action(
      adminCommand(context, async ({ client, output }, id: string) => {
        output.item(await client.call('GET', `/tasks/${encodeURIComponent(id)}`));
      }),
    );

  tasks
    .command('action')
    .description('Acts on a task; its record keeps who acted, when and why.')
    .argument('<id>')
    .addArgument(new Argument('<action>').choices(operatorActions))
    .requiredOption('--reason <text>')
    .option('--upstream-id <id>', 'for adopt: the upstream job that belongs to the task')
    .action(
      adminCommand(
        context,
        async (
          { client, output },
          ...[id, action, options]: [string, string, { reason: string; upstreamId?: string }]
        ) => {
          const { reason, upstreamId } = options;
          const path = `/tasks/${encodeURIComponent(id)}/actions`;
          output.item(await client.call('POST', path, { action, reason, upstream_id: upstreamId }));
        },
      ),
    );
}
