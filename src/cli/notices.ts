import { Option, type Command } from 'commander';
import { z } from 'zod';
import { CommandError } from './command-error.ts';
import { adminCommand, lookCommand, type CliContext } from './context.ts';
import { examples } from './program.js';

const sentSchema = z.object({ data: z.array(z.looseObject({ ok: z.boolean() })) });
const columns = ['kind', 'subject', 'count', 'since', 'notified'];

export function addNoticeCommands(notices: Command, context: CliContext): void {
  notices
    .command('list')
    .description('Lists conditions that need an operator, and the `notify` targets that were notified.')
    .addHelpText('after', examples('notices list', 'notices list --state over'))
    .addOption(new Option('--state <state>').choices(['open', 'over']).default('open'))
    .action(
      lookCommand(context, async ({ client, output }, { state }: { state: string }) => {
        const { rows } = await client.list('/notices', { state });
        output.rows(rows, { columns, more: ['ended_at', 'text'] });
      }),
    );

  notices
    .command('test')
    .description('Sends a test message to every target of `notify` in gateway.yaml, and shows the results.')
    .addHelpText('after', examples('notices test'))
    .action(
      adminCommand(context, async ({ client, output }) => {
        const { data } = sentSchema.parse(await client.call('POST', '/notices/test'));
        output.rows(data, { columns: ['id', 'ok', 'error'] });
        if (data.length === 0) output.note('`notify` has no targets, so notices are listed but not sent.');
        if (data.some(({ ok }) => !ok))
          throw new CommandError('failed', 'A target did not accept the test message.');
      }),
    );
}
