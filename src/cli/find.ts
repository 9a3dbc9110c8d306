import type { Command } from 'commander';
import { z } from 'zod';
import type { Row } from './admin-client.ts';
import { CommandError } from './command-error.ts';
import { lookCommand, type CliContext } from './context.ts';
import { taskTable } from './tasks.ts';

const row = z.record(z.string(), z.unknown());
const foundSchema = z.object({
  data: z.array(z.object({ found_by: z.string(), task: row })),
  ledger: z.array(row),
  others: z.array(row),
});

export function addFindCommand(find: Command, context: CliContext): void {
  find
    .argument(
      '<text>',
      'part of the id of a task, an account or a key, the beginning of any other id or of a name, or words from an error message',
    )
    .action(
      lookCommand(context, async ({ client, output }, text: string) => {
        const answer = await client.call('GET', `/find?${new URLSearchParams({ text }).toString()}`);
        const { data, ledger, others } = foundSchema.parse(answer);
        if (data.length + ledger.length + others.length === 0)
          throw new CommandError('not_found', `Nothing was found for ${text}.`);
        if (output.isJson) return output.item(answer);
        const rows = data.map(({ found_by: by, task }) => ({ ...task, found_by: by }));
        if (rows.length > 0) output.rows(rows, foundTable);
        else if (ledger.length > 0)
          output.rows(ledger, { columns: ['account', 'at', 'kind', 'amount', 'task'] });
        if (others.length > 0) output.rows(others, { columns: ['kind', 'id', 'name', 'account'] });
        for (const taskId of new Set(rows.map((task: Row) => task['id'])))
          output.note(`gateway tasks show ${String(taskId)}`);
      }),
    );
}

const foundTable = {
  ...taskTable,
  columns: ['found_by', 'id', 'account', 'status', 'waits_for', 'channel', 'since'],
  more: ['model', 'key', 'request_id', ...taskTable.more],
};
