import type { Command } from 'commander';
import { z } from 'zod';
import { adminCommand, lookCommand, noteMore } from './context.ts';
import type { CliContext } from './context.ts';
import type { Output } from './output.ts';
import { examples, exitStatuses } from './program.js';

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
      lookCommand(
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
    .description('Checks every invariant while the gateway runs. Exits with status 1 if one is violated.')
    .addHelpText('after', examples('ledger verify'))
    .action(
      adminCommand(context, async ({ client, output }) => {
        const { terminal } = context;
        const answer = await client.follow('/ledger/verify', (progress) =>
          terminal?.progress(
            `${String(progress['accounts'])} accounts, ${String(progress['entries'])} entries…`,
          ),
        );
        terminal?.progress('');
        const result = resultSchema.parse(answer);
        if (result.violation_count > 0) context.fail(exitStatuses.failed.status);
        if (output.isJson) output.item(answer);
        else showResult(result, output);
      }),
    );
}

const resultSchema = z.object({
  accounts: z.int(),
  entries: z.int(),
  open_holds: z.object({ workflow: z.int(), lease: z.int(), creation: z.int() }),
  violation_count: z.int(),
  violations: z.array(z.record(z.string(), z.unknown())),
});

function showResult(result: z.output<typeof resultSchema>, output: Output): void {
  const { accounts, entries, open_holds: open, violation_count: count, violations } = result;
  if (count > 0) output.rows(violations, { columns: ['account', 'invariant', 'message'] });
  output.note(`${accounts} accounts, ${entries} entries: ${count} violations.`);
  output.note(
    `Open holds: ${open.workflow} of running workflows, ${open.lease} of images, ${open.creation} of creates in progress.`,
  );
}
