import type { Command } from 'commander';
import { adminCommand, noteMore, outputOf } from './context.ts';
import type { CliContext } from './context.ts';
import { examples } from './program.js';

const table = {
  columns: ['seq', 'at', 'kind', 'amount', 'available', 'held', 'task'],
  more: ['note'],
};

export function addLedgerCommands(ledger: Command, context: CliContext): void {
  ledger
    .command('show')
    .description('An account’s entries, oldest first.')
    .addHelpText('after', examples('ledger show acme', 'ledger show acme --after 1200'))
    .argument('<account>')
    .option('--after <seq>', 'begin after this entry')
    .option('--limit <n>')
    .action(
      adminCommand(
        context,
        async ({ client, output }, account: string, options: { after?: string; limit?: string }) => {
          const path = `/accounts/${encodeURIComponent(account)}/ledger`;
          const { rows, hasMore } = await client.list(path, { ...options });
          output.rows(rows, table);
          noteMore(output, hasMore, rows.at(-1)?.['seq']);
        },
      ),
    );

  ledger
    .command('verify')
    .description(
      'Checks every invariant, directly on MongoDB and Temporal. Exits with status 1 if one is violated.',
    )
    .addHelpText('after', examples('ledger verify'))
    .action(async (_options: object, command: Command) => {
      const output = outputOf(command, context);
      const { accounts, entries, openHolds, violationCount, violations } = await context.verifyLedger(
        (line) => output.note(line),
      );
      if (violationCount > 0) {
        context.fail(1);
        output.rows(
          violations.map((violation) => ({ ...violation })),
          { columns: ['account', 'invariant', 'message'] },
        );
      } else {
        output.item({ accounts, entries, violations: 0 });
      }
      const { workflow, lease, creation } = openHolds;
      output.note(`${accounts} accounts, ${entries} entries: ${violationCount} violations.`);
      output.note(
        `Open holds: ${workflow} of running workflows, ${lease} of images, ${creation} of creates in progress.`,
      );
    });
}
