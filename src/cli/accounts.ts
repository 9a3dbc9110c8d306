import { InvalidArgumentError, type Command } from 'commander';
import { addCapsOptions, type CapsOptions } from './caps-options.ts';
import { adminCommand, lookCommand, noteMore, type CliContext } from './context.ts';
import { parseTime, timeMeaning } from './option-values.ts';
import { examples } from './program.js';
import { writeAnswer } from './write-answer.ts';

const columns = ['id', 'name', 'available', 'held', 'overdraft_limit', 'closed_at', 'created_at'];

interface NewAccount {
  readonly name?: string;
  readonly overdraftLimit?: string;
}

type CreditLine = [string, string, { reference: string; note?: string }];

interface AlertOptions {
  readonly endpoint?: string;
  readonly caps?: true;
  readonly reason: string;
}

type AlertLine = [string, string, AlertOptions];

type FactorLine = [string, string, { reason: string; model?: readonly ModelFactor[] }];

interface ModelFactor {
  readonly model: string;
  readonly factor: string;
}

type OverdraftLine = [string, string, { reason: string }];

export function addAccountCommands(accounts: Command, context: CliContext): void {
  addMakingCommands(accounts, context);
  addMoneyCommands(accounts, context);
  addAlertCommands(accounts, context);
  addTermsCommands(accounts, context);
  addPriceFactorCommand(accounts, context);
  addUserCapsCommands(accounts, context);
  addEndCommands(accounts, context);
}

function addMakingCommands(accounts: Command, context: CliContext): void {
  accounts
    .command('create')
    .description('Opens an account.')
    .addHelpText('after', examples('accounts create acme --name "Acme" --overdraft-limit 50'))
    .argument('[id]', 'generated if omitted')
    .option('--name <name>')
    .option('--overdraft-limit <amount>', 'how far below zero holds can take the balance')
    .action(
      adminCommand(context, async ({ client, output }, id: string | undefined, options: NewAccount) => {
        const { name, overdraftLimit } = options;
        output.item(await client.call('POST', '/accounts', { id, name, overdraft_limit: overdraftLimit }));
        output.note('\nThe webhook secret will not be shown again.');
      }),
    );

  accounts
    .command('show')
    .description('Shows an account, its balance and the last changes to it.')
    .addHelpText('after', examples('accounts show acme'))
    .argument('<id>')
    .action(
      lookCommand(context, async ({ client, output }, id: string) => {
        output.item(await client.call('GET', `/accounts/${encodeURIComponent(id)}`));
      }),
    );

  accounts
    .command('balance')
    .description('Shows an account’s balance, now or at an earlier time.')
    .addHelpText('after', examples('accounts balance acme --at 2026-11-01'))
    .argument('<id>')
    .option('--at <time>', timeMeaning, parseTime)
    .action(
      lookCommand(context, async ({ client, output }, id: string, { at }: { at?: number }) => {
        const query = at === undefined ? '' : `?at=${at}`;
        output.item(await client.call('GET', `/accounts/${encodeURIComponent(id)}/balance${query}`));
      }),
    );

  accounts
    .command('list')
    .description('Lists accounts, ordered by id.')
    .addHelpText('after', examples('accounts list --limit 100'))
    .option('--limit <n>')
    .option('--after <id>')
    .action(
      lookCommand(context, async ({ client, output }, options: { limit?: string; after?: string }) => {
        const { rows, hasMore } = await client.list('/accounts', { ...options });
        output.rows(rows, { columns });
        noteMore(output, hasMore, rows.at(-1)?.['id']);
      }),
    );
}

function addMoneyCommands(accounts: Command, context: CliContext): void {
  accounts
    .command('credit')
    .description('Credits an account. Use a negative amount for a correction.')
    .addHelpText('after', examples('accounts credit acme 250.00 --reference invoice-17'))
    .argument('<id>')
    .argument('<amount>', 'decimal, at most 6 places')
    .requiredOption(
      '--reference <text>',
      'identifies the payment: a second credit with the same reference has no effect',
    )
    .option('--note <text>')
    .action(
      adminCommand(context, async ({ client, output }, ...[id, amount, options]: CreditLine) => {
        const path = `/accounts/${encodeURIComponent(id)}/credits`;
        output.item(await client.call('POST', path, { amount, ...options }));
      }),
    );

  accounts
    .command('rotate-webhook-secret')
    .description(
      'Generates a new webhook secret. The two previous secrets stay valid. Each rotation invalidates the oldest.',
    )
    .addHelpText('after', examples('accounts rotate-webhook-secret acme'))
    .argument('<id>')
    .action(
      adminCommand(context, async ({ client, output }, id: string) => {
        output.item(await client.call('POST', `/accounts/${encodeURIComponent(id)}/webhook-secret/rotate`));
        output.note('\nThe webhook secret will not be shown again.');
      }),
    );
}

function addAlertCommands(accounts: Command, context: CliContext): void {
  accounts
    .command('alert')
    .description('Shows when events about an account’s balance and caps are posted.')
    .addHelpText('after', examples('accounts alert acme'))
    .argument('<id>')
    .action(
      lookCommand(context, async ({ client, output }, id: string) => {
        output.item(await client.call('GET', `/accounts/${encodeURIComponent(id)}/alert`));
      }),
    );

  accounts
    .command('set-alert')
    .description(
      'Posts an event each time an account’s balance falls below a threshold. If `--caps` is set, also posts one when 50, 80 and 100 per cent of a cap are used. Replaces the earlier settings.',
    )
    .addHelpText(
      'after',
      examples(
        'accounts set-alert acme 10.00 --endpoint https://acme.example/hooks --reason "asked for it"',
        'accounts set-alert acme off --caps --endpoint https://acme.example/hooks --reason "asked for it"',
      ),
    )
    .argument('<id>')
    .argument('<threshold>', 'decimal with at most 6 places, or `off` for no events about the balance')
    .option('--caps', 'also post events when 50, 80 and 100 per cent of a cap are used')
    .option('--endpoint <url>', 'the URL to which events are posted')
    .requiredOption('--reason <text>')
    .action(
      adminCommand(context, async ({ client, output }, ...[id, threshold, options]: AlertLine) => {
        const path = `/accounts/${encodeURIComponent(id)}/alert`;
        const { endpoint: url, ...others } = options;
        const set = threshold === 'off' ? {} : { threshold };
        output.item(await client.call('POST', path, { ...set, ...others, url }));
      }),
    );
}

function addTermsCommands(accounts: Command, context: CliContext): void {
  accounts
    .command('overdraft')
    .description('Changes how far below zero holds can take the balance.')
    .addHelpText('after', examples('accounts overdraft acme 50 --reason "pays by invoice"'))
    .argument('<id>')
    .argument('<limit>', 'decimal, at most 6 places')
    .requiredOption('--reason <text>')
    .action(
      adminCommand(context, async ({ client, output }, ...[id, limit, { reason }]: OverdraftLine) => {
        const path = `/accounts/${encodeURIComponent(id)}/overdraft`;
        output.item(await client.call('POST', path, { overdraft_limit: limit, reason }));
      }),
    );
}

function addPriceFactorCommand(accounts: Command, context: CliContext): void {
  accounts
    .command('price-factor')
    .description(
      'Sets the factors by which an account’s prices are multiplied. Replaces all earlier factors. Tasks in flight keep theirs.',
    )
    .addHelpText(
      'after',
      examples(
        'accounts price-factor acme 0.9 --reason "ten per cent less"',
        'accounts price-factor acme 1 --model clip-1=0.8 --reason "agreed for a year"',
      ),
    )
    .argument('<id>')
    .argument('<factor>', 'decimal from 0 to 100; 0.9 is a discount of ten per cent, and 1 means no discount')
    .option(
      '--model <factor>',
      'factor of one model, such as clip-1=0.8; may be repeated',
      (text: string, before: readonly ModelFactor[] | undefined) => [
        ...(before ?? []),
        parseModelFactor(text),
      ],
    )
    .requiredOption('--reason <text>')
    .action(
      adminCommand(context, async ({ client, output }, ...[id, factor, options]: FactorLine) => {
        const path = `/accounts/${encodeURIComponent(id)}/price-factors`;
        const { model: models = [], reason } = options;
        output.item(await client.call('POST', path, { factor, models, reason }));
      }),
    );
}

function addUserCapsCommands(accounts: Command, context: CliContext): void {
  const capUsers = accounts
    .command('cap-users')
    .description(
      'Limits the spending of each of an account’s end users. Replaces all such caps. If no options are set, removes them.',
    )
    .addHelpText(
      'after',
      examples(
        'accounts cap-users acme --day 2 --total 50 --reason "free plan"',
        'accounts cap-users acme --day 2 --user zoe:day=20,month=200 --reason "zoe has paid"',
      ),
    )
    .argument('<id>');
  addCapsOptions(capUsers, 'user')
    .requiredOption('--reason <text>')
    .option('--ignore-case', 'treat names that differ only in case as one end user')
    .action(
      adminCommand(context, async ({ client, output }, id: string, options: UserCapsOptions) => {
        const { user = [], ignoreCase, ...caps } = options;
        const users = user.map(({ name, ...own }) => ({ user: name, ...own }));
        const path = `/accounts/${encodeURIComponent(id)}/end-user-caps`;
        output.item(await client.call('POST', path, { ...caps, users, ignore_case: ignoreCase }));
      }),
    );

  const states = [
    ['close', 'Stops the creation of tasks and keys. Tasks in flight continue and are settled.', 'left us'],
    ['reopen', 'Reopens a closed account.', 'came back'],
  ] as const;
  for (const [name, description, why] of states) {
    accounts
      .command(name)
      .description(description)
      .addHelpText('after', examples(`accounts ${name} acme --reason "${why}"`))
      .argument('<id>')
      .requiredOption('--reason <text>')
      .action(
        adminCommand(context, async ({ client, output }, id: string, { reason }: { reason: string }) => {
          const path = `/accounts/${encodeURIComponent(id)}/${name}`;
          output.item(await client.call('POST', path, { reason }));
        }),
      );
  }
}

interface UserCapsOptions extends CapsOptions {
  readonly ignoreCase?: boolean;
}

function parseModelFactor(text: string): ModelFactor {
  const equals = text.lastIndexOf('=');
  if (equals < 1) throw new InvalidArgumentError('It must be a model and its factor, such as clip-1=0.8.');
  return { model: text.slice(0, equals), factor: text.slice(equals + 1) };
}

interface DeleteOptions {
  readonly reason: string;
  readonly dryRun?: true;
}

function addEndCommands(accounts: Command, context: CliContext): void {
  accounts
    .command('export')
    .description('Writes everything that is stored for an account, with one object per line.')
    .addHelpText('after', examples('accounts export acme --out acme.jsonl'))
    .argument('<id>')
    .option('--out <file>', 'default: standard output')
    .action(
      adminCommand(context, async (session, id: string, { out }: { readonly out?: string }) => {
        const path = `/accounts/${encodeURIComponent(id)}/export`;
        await writeAnswer({ ...session, print: context.print }, { path, query: {}, out });
      }),
    );

  accounts
    .command('delete')
    .description(
      'Permanently removes a closed account’s keys, tasks, requests, results and names. The ledger stays. Export the account first.',
    )
    .addHelpText(
      'after',
      examples(
        'accounts delete acme --reason "asked to be forgotten" --dry-run',
        'accounts delete acme --reason "asked to be forgotten"',
      ),
    )
    .argument('<id>')
    .requiredOption('--reason <text>')
    .option('--dry-run', 'only show what would be removed')
    .action(
      adminCommand(context, async ({ client, output }, id: string, { reason, dryRun }: DeleteOptions) => {
        const path = `/accounts/${encodeURIComponent(id)}/delete`;
        output.item(await client.call('POST', path, { reason, dry_run: dryRun === true }));
      }),
    );
}
