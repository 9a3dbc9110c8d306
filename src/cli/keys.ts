import type { Command } from 'commander';
import { adminCommand, lookCommand, noteMore, type CliContext } from './context.ts';
import { addCapsOptions, keyCapsOf, type CapsOptions } from './caps-options.ts';
import { parseCount, parseDate, parseList, parseSeconds } from './option-values.ts';
import { examples } from './program.js';

const table = {
  columns: ['id', 'account', 'name', 'models', 'last_used_at', 'expires_at', 'revoked_at', 'created_at'],
  more: [
    'scopes',
    'prefix',
    'link_expires_at',
    'addresses',
    'routes',
    'channels',
    'requests_per_minute',
    'caps',
    'replaced_by',
  ],
};

interface KeyListOptions {
  readonly account?: string;
  readonly limit?: string;
  readonly after?: string;
}

interface KeyCaps extends CapsOptions {
  readonly reason: string;
}

interface NewKey extends CapsOptions {
  readonly name?: string;
  readonly scopes?: readonly string[];
  readonly addresses?: readonly string[];
  readonly routes?: readonly string[];
  readonly durationMax?: number;
  readonly resolutionMax?: string;
  readonly models?: readonly string[];
  readonly channels?: readonly string[];
  readonly assetUrls?: boolean;
  readonly strict?: boolean;
  readonly endUserRequired?: boolean;
  readonly requestsPerMinute?: number;
  readonly concurrentTasks?: number;
  readonly expiresAt?: number;
  readonly link?: number;
}

interface Rotation {
  readonly reason: string;
  readonly oldValid?: number;
}

export function addKeyCommands(keys: Command, context: CliContext): void {
  const create = keys
    .command('create')
    .description('Creates a key for an account. The key is shown once.')
    .addHelpText(
      'after',
      examples(
        'keys create acme --name production',
        'keys create acme --models clip-1 --requests-per-minute 60',
        'keys create acme --name trial --month 50 --model clip-1:day=5',
        'keys create acme --name owner --scopes create,read_account,manage --link 3d',
      ),
    )
    .argument('<account>')
    .option('--name <name>');
  addCapsOptions(addTermOptions(create), 'model').action(
    adminCommand(context, async ({ client, output }, account: string, options: NewKey) => {
      const made = await client.call('POST', '/keys', {
        account,
        name: options.name,
        scopes: options.scopes,
        addresses: options.addresses,
        routes: options.routes,
        duration_max: options.durationMax,
        resolution_max: options.resolutionMax,
        models: options.models,
        channels: options.channels,
        asset_urls: options.assetUrls,
        strict: options.strict,
        end_user_required: options.endUserRequired,
        requests_per_minute: options.requestsPerMinute,
        concurrent_tasks: options.concurrentTasks,
        expires_at: options.expiresAt,
        link_valid_seconds: options.link,
        ...(hasCaps(options) ? { caps: keyCapsOf(options) } : {}),
      });
      const { link } = made;
      output.item(typeof link === 'string' ? { ...made, link: client.linkTo(link) } : made);
      output.note(`\nThe ${link === undefined ? 'key' : 'link'} will not be shown again.`);
    }),
  );

  keys
    .command('list')
    .description('Lists keys, newest first.')
    .addHelpText('after', examples('keys list --account acme'))
    .option('--account <id>')
    .option('--limit <n>')
    .option('--after <id>')
    .action(
      lookCommand(context, async ({ client, output }, options: KeyListOptions) => {
        const { rows, hasMore } = await client.list('/keys', { ...options });
        output.rows(rows, table);
        noteMore(output, hasMore, rows.at(-1)?.['id']);
      }),
    );

  addCapCommand(keys, context);
  addEndingCommands(keys, context);
}

function addTermOptions(command: Command): Command {
  return command
    .option('--scopes <list>', 'create, read_own, read_account, manage (default: create,read_own)', parseList)
    .option(
      '--addresses <list>',
      'IP addresses and networks from which the key may be used (default: all)',
      parseList,
    )
    .option('--routes <list>', 'operationIds to allow (default: all that its scopes allow)', parseList)
    .option('--duration-max <seconds>', 'longest video to allow', parseCount)
    .option('--resolution-max <name>', 'largest resolution to allow, such as 1080p')
    .option('--models <list>', 'comma-separated (default: all)', parseList)
    .option('--channels <list>', 'comma-separated (default: all)', parseList)
    .option('--asset-urls', 'allow asset://… references to media of an upstream account')
    .option('--strict', 'reject requests with fields that have no effect')
    .option('--end-user-required', 'reject create requests without an end user')
    .option('--requests-per-minute <n>', 'default: no limit', parseCount)
    .option('--concurrent-tasks <n>', 'default: no limit', parseCount)
    .option('--expires-at <time>', 'such as 2030-01-31 or 2030-01-31T12:00Z', parseDate)
    .option(
      '--link <time>',
      'create a link that shows the key to the person who opens it, and keep it valid for this long: 24h, 7d',
      parseSeconds,
    );
}

/** Returns true if any cap is given. Only some operators may set caps, so a request without caps must omit them. */
function hasCaps({ day, month, total, model }: CapsOptions): boolean {
  return [day, month, total, model].some((given) => given !== undefined);
}

function addCapCommand(keys: Command, context: CliContext): void {
  const command = keys
    .command('cap')
    .description(
      'Limits the spending of a key. Replaces all of its caps. If no options are set, removes them.',
    )
    .addHelpText(
      'after',
      examples(
        'keys cap key_… --day 20 --month 200 --reason trial',
        'keys cap key_… --total 500 --model clip-1:day=5,month=50 --reason trial',
      ),
    )
    .argument('<id>', 'key_…');
  addCapsOptions(command, 'model')
    .requiredOption('--reason <text>')
    .action(
      adminCommand(context, async ({ client, output }, id: string, options: KeyCaps) => {
        const { reason } = options;
        const path = `/keys/${encodeURIComponent(id)}/caps`;
        output.item(await client.call('POST', path, { ...keyCapsOf(options), reason }));
      }),
    );
}

function addEndingCommands(keys: Command, context: CliContext): void {
  keys
    .command('revoke')
    .description(
      'Revokes a key. Takes effect immediately on the node that gets the request, and within five seconds on all others.',
    )
    .addHelpText('after', examples('keys revoke key_… --reason leaked'))
    .argument('<id>', 'key_…')
    .option('--reason <text>')
    .action(
      adminCommand(context, async ({ client, output }, id: string, { reason = '' }: { reason?: string }) => {
        const query = new URLSearchParams({ reason }).toString();
        output.item(await client.call('DELETE', `/keys/${encodeURIComponent(id)}?${query}`));
      }),
    );

  keys
    .command('rotate')
    .description(
      'Creates a key that replaces this one. Until the old key expires, both are valid and share their limits.',
    )
    .addHelpText('after', examples('keys rotate key_… --reason yearly --old-valid 7d'))
    .argument('<id>', 'key_…')
    .requiredOption('--reason <text>')
    .option(
      '--old-valid <time>',
      'how long the old key stays valid: 0, 30m, 24h, 7d (default: 24h)',
      parseSeconds,
    )
    .action(
      adminCommand(context, async ({ client, output }, id: string, { reason, oldValid }: Rotation) => {
        const path = `/keys/${encodeURIComponent(id)}/rotate`;
        output.item(await client.call('POST', path, { reason, old_valid_seconds: oldValid }));
        output.note('\nThe key will not be shown again.');
      }),
    );
}
