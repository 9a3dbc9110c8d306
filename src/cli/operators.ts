import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { roleWords } from '../base/operator.ts';
import { adminCommand, lookCommand } from './context.ts';
import type { CliContext } from './context.ts';
import { parseList } from './option-values.ts';
import { examples } from './program.js';

const columns = [
  'name',
  'roles',
  'prefix',
  'created_at',
  'created_by',
  'last_used_at',
  'revoked_at',
  'revoked_by',
];

interface AddOptions {
  readonly roles?: readonly string[];
  readonly reason?: string;
}

export function addOperatorsCommands(operators: Command, context: CliContext): void {
  operators
    .command('add')
    .description(
      'Creates an operator with a token; what is done with it is recorded under this name. Needs ADMIN_TOKEN.',
    )
    .addHelpText(
      'after',
      examples(
        'operators add anna --reason "new on call"',
        'operators add grafana',
        'operators add lea --roles support,money',
      ),
    )
    .argument('<name>', 'lowercase')
    .option(
      '--roles <list>',
      `comma-separated: ${roleWords.join(', ')} (default: read, which changes nothing)`,
      parseRoles,
    )
    .option('--reason <text>')
    .action(
      adminCommand(context, async ({ client, output }, name: string, asked: AddOptions) => {
        output.item(await client.call('POST', '/operators', { name, ...asked }));
        output.note('\nThe token will not be shown again. The operator sets it as OPERATOR_TOKEN.');
      }),
    );

  operators
    .command('list')
    .description('Lists operators: who, which roles, last used to the minute, revoked when and by whom.')
    .addHelpText('after', examples('operators list'))
    .action(
      lookCommand(context, async ({ client, output }) => {
        const { rows } = await client.list('/operators', {});
        output.rows(rows, { columns });
      }),
    );

  operators
    .command('revoke')
    .description(
      'Revokes an operator’s token: effective at once on one node and within five seconds on every other. Needs ADMIN_TOKEN.',
    )
    .addHelpText('after', examples('operators revoke anna --reason "left us"'))
    .argument('<name>')
    .option('--reason <text>', undefined, '')
    .action(
      adminCommand(context, async ({ client, output }, name: string, { reason }: { reason: string }) => {
        const query = new URLSearchParams({ reason });
        output.item(await client.call('DELETE', `/operators/${encodeURIComponent(name)}?${String(query)}`));
      }),
    );
}

function parseRoles(text: string): string[] {
  const words: readonly string[] = roleWords;
  const roles = parseList(text);
  if (roles.length > 0 && roles.every((role) => words.includes(role))) return roles;
  throw new InvalidArgumentError(`It must be ${words.join(', ')}.`);
}
