import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { adminCommand } from './context.ts';
import type { CliContext } from './context.ts';

const columns = [
  'id',
  'account',
  'name',
  'prefix',
  'models',
  'channels',
  'requests_per_minute',
  'expires_at',
  'revoked_at',
  'last_used_at',
];

interface NewKey {
  readonly name?: string;
  readonly models?: readonly string[];
  readonly channels?: readonly string[];
  readonly assetUrls?: boolean;
  readonly requestsPerMinute?: number;
  readonly concurrentTasks?: number;
  readonly expiresAt?: number;
}

export function addKeyCommands(keys: Command, context: CliContext): void {
  keys
    .command('create')
    .argument('<account>')
    .option('--name <name>')
    .option('--models <list>', 'comma-separated (default: all)', parseList)
    .option('--channels <list>', 'comma-separated (default: all)', parseList)
    .option('--asset-urls', 'allow media that are asset://… of an upstream account')
    .option('--requests-per-minute <n>', 'default: no limit', parseCount)
    .option('--concurrent-tasks <n>', 'default: no limit', parseCount)
    .option('--expires-at <time>', 'such as 2030-01-31 or 2030-01-31T12:00Z', parseTime)
    .action(
      adminCommand(context, async ({ client, output }, account: string, options: NewKey) => {
        const made = await client.call('POST', '/keys', {
          account,
          name: options.name,
          models: options.models,
          channels: options.channels,
          asset_urls: options.assetUrls,
          requests_per_minute: options.requestsPerMinute,
          concurrent_tasks: options.concurrentTasks,
          expires_at: options.expiresAt,
        });
        output.item(made);
        output.note('\nThe key will not be shown again.');
      }),
    );

  keys
    .command('list')
    .option('--account <id>')
    .option('--limit <n>')
    .action(
      adminCommand(context, async ({ client, output }, options: { account?: string; limit?: string }) => {
        const { rows } = await client.list('/keys', { ...options });
        output.rows(rows, columns);
      }),
    );

  keys
    .command('revoke')
    .description('Effective at once on one node and within five seconds on every other.')
    .argument('<id>', 'key_…')
    .action(
      adminCommand(context, async ({ client, output }, id: string) => {
        output.item(await client.call('DELETE', `/keys/${encodeURIComponent(id)}`));
      }),
    );
}

function parseList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function parseCount(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('It must be a number, at least 1.');
  return Number(text);
}

/** Unix seconds. */
function parseTime(text: string): number {
  const milliseconds = Date.parse(text);
  if (Number.isNaN(milliseconds)) throw new InvalidArgumentError('It must be a date, such as 2030-01-31.');
  return Math.floor(milliseconds / 1000);
}
