import type { Command } from 'commander';
import { adminCommand, lookCommand, noteMore } from './context.ts';
import type { CliContext } from './context.ts';
import { examples } from './program.js';

const columns = ['id', 'name', 'available', 'held', 'overdraft_limit', 'closed_at', 'created_at'];

interface NewAccount {
  readonly name?: string;
  readonly overdraftLimit?: string;
}

/** Account, amount, options. */
type CreditLine = [string, string, { reference: string; note?: string }];

type OverdraftLine = [string, string, { reason: string }];

export function addAccountCommands(accounts: Command, context: CliContext): void {
  addMakingCommands(accounts, context);
  addMoneyCommands(accounts, context);
  addTermsCommands(accounts, context);
}

function addMakingCommands(accounts: Command, context: CliContext): void {
  accounts
    .command('create')
    .description('Opens an account.')
    .addHelpText('after', examples('accounts create acme --name "Acme" --overdraft-limit 50'))
    .argument('[id]', 'generated if omitted')
    .option('--name <name>')
    .option('--overdraft-limit <amount>', 'how far holds may take the balance below zero')
    .action(
      adminCommand(context, async ({ client, output }, id: string | undefined, options: NewAccount) => {
        const { name, overdraftLimit } = options;
        output.item(await client.call('POST', '/accounts', { id, name, overdraft_limit: overdraftLimit }));
        output.note('\nThe webhook secret will not be shown again.');
      }),
    );

  accounts
    .command('show')
    .description('Shows an account with its balance and what was changed of it.')
    .addHelpText('after', examples('accounts show acme'))
    .argument('<id>')
    .action(
      lookCommand(context, async ({ client, output }, id: string) => {
        output.item(await client.call('GET', `/accounts/${encodeURIComponent(id)}`));
      }),
    );

  accounts
    .command('list')
    .description('Lists accounts in the order of their ids.')
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
    .description('Credits an account; a negative amount is a correction.')
    .addHelpText('after', examples('accounts credit acme 250.00 --reference invoice-17'))
    .argument('<id>')
    .argument('<amount>', 'decimal, at most 6 places')
    .requiredOption('--reference <text>', 'names the payment: the same reference is the same credit')
    .option('--note <text>')
    .action(
      adminCommand(context, async ({ client, output }, ...[id, amount, options]: CreditLine) => {
        const path = `/accounts/${encodeURIComponent(id)}/credits`;
        output.item(await client.call('POST', path, { amount, ...options }));
      }),
    );

  accounts
    .command('rotate-webhook-secret')
    .description('Generates a new webhook secret; the previous one stays valid until the next rotation.')
    .addHelpText('after', examples('accounts rotate-webhook-secret acme'))
    .argument('<id>')
    .action(
      adminCommand(context, async ({ client, output }, id: string) => {
        output.item(await client.call('POST', `/accounts/${encodeURIComponent(id)}/webhook-secret/rotate`));
      }),
    );
}

/** What an account may do. */
function addTermsCommands(accounts: Command, context: CliContext): void {
  accounts
    .command('overdraft')
    .description('Changes how far holds may take the balance below zero.')
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

  const states = [
    ['close', 'Stops the creation of tasks and keys; tasks in flight continue and are settled.'],
    ['reopen', 'Reopens a closed account.'],
  ] as const;
  for (const [name, description] of states) {
    accounts
      .command(name)
      .description(description)
      .addHelpText('after', examples(`accounts ${name} acme --reason "left us"`))
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
