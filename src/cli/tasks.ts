import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import { failureClasses } from '../domain/failure.ts';
import { taskStatuses } from '../domain/task.ts';
import { actionTable, operatorActions } from '../domain/operator-actions.ts';
import { adminCommand, noteMore } from './context.ts';
import type { CliContext } from './context.ts';
import { parseAmount, parseCount } from './option-values.ts';

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
  readonly overdue?: true;
  readonly callbackFailed?: true;
  readonly limit?: string;
  readonly after?: string;
}

interface ActionOptions {
  readonly reason: string;
  readonly dryRun?: true;
  readonly upstreamId?: string;
  readonly channel?: string;
  readonly seconds?: number;
  readonly resultUrl?: string;
  readonly duration?: number;
  readonly resolution?: string;
  readonly totalTokens?: number;
  readonly images?: number;
}

const descriptions = operatorActions
  .map((name) => `${name.padEnd(15)}${actionTable[name].description}`)
  .join('\n');

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
          const { rows, hasMore } = await client.list('/tasks', {
            ...options,
            upstream_id: upstreamId,
            attention: overdue === true ? 'overdue' : undefined,
            needs_attention: needsAttention === true ? 'true' : undefined,
            callback_failed: callbackFailed === true ? 'true' : undefined,
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
  addTaskAction(tasks, context);
}

function addTaskAction(tasks: Command, context: CliContext): void {
  tasks
    .command('action')
    .alias('act')
    .description(`Acts on a task; its record keeps who acted, when and why.\n\n${descriptions}`)
    .argument('<id>')
    .addArgument(new Argument('<action>').choices(operatorActions))
    .requiredOption('--reason <text>')
    .option('--dry-run', 'say what would happen to the task and the money, and do nothing')
    .option('--upstream-id <id>', 'adopt: the upstream job that belongs to the task')
    .option('--channel <id>', 'resubmit: where; default: the channel that lost the submission')
    .option('--seconds <n>', 'extend: how much later the deadline is', parseCount)
    .option('--result-url <url>', 'complete: the address of the result')
    .option('--duration <seconds>', 'complete: of the result', parseAmount)
    .option('--resolution <name>', 'complete: of the result')
    .option('--total-tokens <n>', 'complete: what the upstream bills, where it bills tokens', parseAmount)
    .option('--images <n>', 'complete: number of images', parseCount)
    .action(
      adminCommand(
        context,
        async ({ client, output }, ...[id, action, options]: [string, string, ActionOptions]) => {
          const { dryRun, upstreamId, resultUrl, totalTokens, ...same } = options;
          const answer = await client.call('POST', `/tasks/${encodeURIComponent(id)}/actions`, {
            ...same,
            action,
            dry_run: dryRun,
            upstream_id: upstreamId,
            result_url: resultUrl,
            total_tokens: totalTokens,
          });
          output.answer(answer, 'result');
        },
      ),
    );
}
