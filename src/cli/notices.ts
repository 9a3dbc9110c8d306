import { Option } from 'commander';
import type { Command } from 'commander';
import { z } from 'zod';
import { CommandError } from './command-error.ts';
import { adminCommand } from './context.ts';
import type { CliContext } from './context.ts';

const sentSchema = z.object({ data: z.array(z.looseObject({ ok: z.boolean() })) });
const columns = ['kind', 'subject', 'count', 'since', 'ended_at', 'told', 'text'];

export function addNoticeCommands(notices: Command, context: CliContext): void {
  notices
    .command('list')
    .description('Lists what needs somebody, and which targets of `notify` were told of it.')
    .addOption(new Option('--state <state>').choices(['open', 'over']).default('open'))
    .action(
      adminCommand(context, async ({ client, output }, { state }: { state: string }) => {
        const { rows } = await client.list('/notices', { state });
        output.rows(rows, columns);
      }),
    );

  notices
    .command('test')
    .description('Sends a test to every target of `notify` in gateway.yaml, and says what came of it.')
    .action(
      adminCommand(context, async ({ client, output }) => {
        const { data } = sentSchema.parse(await client.call('POST', '/notices/test'));
        output.rows(data, ['id', 'ok', 'error']);
        if (data.some(({ ok }) => !ok)) throw new CommandError('A target did not take the test.');
      }),
    );
}
