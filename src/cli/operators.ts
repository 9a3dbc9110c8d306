import { InvalidArgumentError, type Command } from 'commander';
import { roleWords } from '../base/operator.ts';
import { adminCommand, lookCommand, type CliContext } from './context.ts';
import { parseList, parseSeconds } from './option-values.ts';
import { examples } from './program.js';

const columns = [
  'name',
  'roles',
  'state',
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

interface InviteOptions extends AddOptions {
  readonly valid?: number;
}

export function addOperatorsCommands(operators: Command, context: CliContext): void {
  operators
    .command('add')
    .description(
      'Creates an operator with a token. Everything done with the token is recorded under this name. Needs ADMIN_TOKEN.',
    )
    .addHelpText(
      'after',
      examples(
        'operators add anna --reason "new on call"',
        'operators add grafana --roles viewer',
        'operators add lea --roles support,money',
      ),
    )
    .argument('<name>', 'lowercase')
    .option(
      '--roles <list>',
      `comma-separated: ${roleWords.join(', ')} (default: read, which allows no changes and shows no amounts)`,
      parseRoles,
    )
    .option('--reason <text>')
    .action(
      adminCommand(context, async ({ client, output }, name: string, asked: AddOptions) => {
        output.item(await client.call('POST', '/operators', { name, ...asked }));
        output.note('\nThe token will not be shown again. The operator sets it as OPERATOR_TOKEN.');
      }),
    );

  addInvitationCommands(operators, context);

  operators
    .command('list')
    .description(
      'Lists operators with their roles, whether they were invited, when their tokens were last used (to the minute), and when and by whom they were revoked.',
    )
    .addHelpText('after', examples('operators list'))
    .action(
      lookCommand(context, async ({ client, output }) => {
        const { rows } = await client.list('/operators', {});
        output.rows(rows, { columns });
      }),
    );

  addChangingCommands(operators, context);
}

function addChangingCommands(operators: Command, context: CliContext): void {
  operators
    .command('change')
    .description(
      'Replaces an operator’s roles. Takes effect immediately on the node that gets the request, and within five seconds on all others. The token stays valid. Needs ADMIN_TOKEN.',
    )
    .addHelpText(
      'after',
      examples('operators change anna --roles support,money --reason "on call for bills"'),
    )
    .argument('<name>')
    .requiredOption('--roles <list>', `comma-separated: ${roleWords.join(', ')}`, parseRoles)
    .option('--reason <text>')
    .action(
      adminCommand(context, async ({ client, output }, name: string, asked: AddOptions) => {
        output.item(await client.call('POST', `/operators/${encodeURIComponent(name)}/roles`, { ...asked }));
      }),
    );

  operators
    .command('revoke')
    .description(
      'Revokes an operator’s token. Takes effect immediately on the node that gets the request, and within five seconds on all others. Needs ADMIN_TOKEN.',
    )
    .addHelpText('after', examples('operators revoke anna --reason "left us"'))
    .argument('<name>')
    .option('--reason <text>')
    .action(
      adminCommand(
        context,
        async ({ client, output }, name: string, { reason = '' }: { reason?: string }) => {
          const query = new URLSearchParams({ reason });
          output.item(await client.call('DELETE', `/operators/${encodeURIComponent(name)}?${String(query)}`));
        },
      ),
    );
}

function addInvitationCommands(operators: Command, context: CliContext): void {
  operators
    .command('invite')
    .description(
      'Creates a link that shows a token once, to the person who opens it. You can grant only roles that you have yourself.',
    )
    .addHelpText(
      'after',
      examples('operators invite anna --roles support', 'operators invite lea --roles billing --valid 24h'),
    )
    .argument('<name>', 'lowercase')
    .option(
      '--roles <list>',
      `comma-separated: ${roleWords.join(', ')} (default: read, which allows no changes and shows no amounts)`,
      parseRoles,
    )
    .option('--valid <time>', 'how long the link is valid: 30m, 24h, 7d (default: 3d)', parseSeconds)
    .option('--reason <text>')
    .action(
      adminCommand(context, async ({ client, output }, name: string, asked: InviteOptions) => {
        const { valid: valid_seconds, ...rest } = asked;
        const invited = await client.call('POST', '/operators/invitations', { name, ...rest, valid_seconds });
        output.item({ ...invited, link: client.linkTo(String(invited['link'])) });
        output.note('\nThe link can be used once, and will not be shown again.');
      }),
    );

  operators
    .command('withdraw')
    .description('Withdraws an unused invitation. Its link no longer works.')
    .addHelpText('after', examples('operators withdraw anna --reason "wrong roles"'))
    .argument('<name>')
    .option('--reason <text>')
    .action(
      adminCommand(
        context,
        async ({ client, output }, name: string, { reason = '' }: { reason?: string }) => {
          const query = new URLSearchParams({ reason }).toString();
          const path = `/operators/invitations/${encodeURIComponent(name)}?${query}`;
          output.item(await client.call('DELETE', path));
        },
      ),
    );
}

function parseRoles(text: string): string[] {
  const words: readonly string[] = roleWords;
  const roles = parseList(text);
  if (roles.length > 0 && roles.every((role) => words.includes(role))) return roles;
  throw new InvalidArgumentError(`It must be one or more of ${words.join(', ')}.`);
}
