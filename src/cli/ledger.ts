import { Option, type Command } from 'commander';
import { z } from 'zod';
import { parseJson } from '../base/parse-json.ts';
import type { AdminClient, Row } from './admin-client.ts';
import { CommandError } from './command-error.ts';
import { adminCommand, lookCommand, noteMore, outputOf, type CliContext } from './context.ts';
import { textOfFile } from './given-file.ts';
import type { Output } from './output.ts';
import { examples, exitStatuses } from './program.js';
import { writeAnswer } from './write-answer.ts';

const table = {
  columns: ['seq', 'at', 'kind', 'amount', 'available', 'held', 'task'],
  more: ['note'],
};

type StatementLine = [string, { readonly month: string; readonly format: string; readonly out?: string }];

export function addLedgerCommands(ledger: Command, context: CliContext): void {
  addReadingCommands(ledger, context);
  addProofCommands(ledger, context);
  addClockCommand(ledger, context);
}

function addReadingCommands(ledger: Command, context: CliContext): void {
  ledger
    .command('show')
    .description('Lists an account’s entries, oldest first.')
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
    .command('statement')
    .description('Prints an account’s statement for a month: opening balance, entries, closing balance.')
    .addHelpText(
      'after',
      examples(
        'ledger statement acme --month 2026-11',
        'ledger statement acme --month 2026-11 --format html --out acme.html',
      ),
    )
    .argument('<account>')
    .requiredOption('--month <month>', 'in UTC, such as 2026-11')
    .addOption(
      new Option('--format <format>', 'csv for a spreadsheet, or html for a printable page')
        .choices(['csv', 'html', 'jsonl'])
        .default('csv'),
    )
    .option('--out <file>', 'default: standard output')
    .action(
      adminCommand(context, async (session, ...[account, { out, ...query }]: StatementLine) => {
        const path = `/accounts/${encodeURIComponent(account)}/statement`;
        await writeAnswer({ ...session, print: context.print }, { path, query, out });
      }),
    );
}

function addProofCommands(ledger: Command, context: CliContext): void {
  ledger
    .command('heads')
    .description(
      'Prints each account’s last entry with its signature, as recorded once a day and by verifications that found no violation. Keep the output elsewhere, so that `ledger verify --heads` can detect entries that are removed or rewritten later.',
    )
    .addHelpText('after', examples('ledger heads', 'ledger heads --all -o jsonl'))
    .option('--after <id>', 'begin after this head')
    .option('--limit <n>')
    .option('--all', 'print every page')
    .action(
      lookCommand(
        context,
        async ({ client, output }, options: { after?: string; limit?: string; all?: true }) => {
          const { all = false, ...asked } = options;
          const rows: Row[] = [];
          if (all) for await (const row of client.all('/ledger/heads', asked)) rows.push(row);
          const page = all ? { rows, hasMore: false } : await client.list('/ledger/heads', asked);
          output.rows(page.rows, { columns: ['account', 'seq', 'at', 'hash'], more: ['signature'] });
          noteMore(output, page.hasMore, page.rows.at(-1)?.['id']);
        },
      ),
    );

  ledger
    .command('verify')
    .description(
      'Checks every invariant while the gateway runs, and anchors the heads of accounts without violations. Exits with status 1 if an invariant is violated.',
    )
    .addHelpText('after', examples('ledger verify', 'ledger verify --heads heads.jsonl'))
    .option(
      '--heads <file>',
      'earlier output of `ledger heads --all -o jsonl`, to check that the ledger still contains these heads',
    )
    .action(
      adminCommand(context, async ({ client, output }, { heads: file }: { heads?: string }) => {
        const { terminal } = context;
        const heads = file === undefined ? undefined : await readHeads(file);
        const answer = await client.follow('/ledger/verify', (progress) =>
          terminal?.progress(
            `${String(progress['accounts'])} accounts, ${String(progress['entries'])} entries…`,
          ),
        );
        terminal?.progress('');
        const result = resultSchema.parse(answer);
        if (heads !== undefined) await checkHeads(heads, { client, result });
        if (result.violation_count > 0) context.fail(exitStatuses.failed.status);
        if (output.isJson) output.item(result);
        else showResult(result, { output, heads });
      }),
    );
}

function addClockCommand(ledger: Command, context: CliContext): void {
  ledger
    .command('accept-clock')
    .description(
      'Accepts the database’s current time after its clock has jumped. Writes directly to MongoDB, without going through the API. Every process resumes writing to the ledger within a minute.',
    )
    .requiredOption('--reason <text>')
    .addHelpText('after', examples('ledger accept-clock --reason "its clock was set right"'))
    .action(async ({ reason }: { readonly reason: string }, command: Command) => {
      const output = outputOf(command, context);
      const { at, jump } = await context.acceptClock(reason);
      const shown = (time: number) => new Date(time).toISOString();
      output.item({ database_time: shown(at), accepted: jump !== undefined });
      output.note(
        jump === undefined
          ? 'No process disagrees with the database’s current time, so nothing was done.'
          : `A process expected ${shown(jump.expected)}, but the database reported ${shown(jump.seen)}.`,
      );
    });
}

type Result = z.output<typeof resultSchema>;
const headsAtOnce = 100;

async function checkHeads(
  { heads }: GivenHeads,
  { client, result }: { readonly client: AdminClient; readonly result: Result },
): Promise<void> {
  for (let from = 0; from < heads.length; from += headsAtOnce) {
    const answer = await client.call('POST', '/ledger/heads/check', {
      heads: heads.slice(from, from + headsAtOnce),
    });
    const { violations } = checkedSchema.parse(answer);
    result.violation_count += violations.length;
    result.violations.push(...violations.map((fault) => ({ invariant: 'ends_at_anchored_head', ...fault })));
  }
}

interface GivenHeads {
  readonly file: string;
  readonly heads: readonly z.output<typeof headSchema>[];
}

async function readHeads(file: string): Promise<GivenHeads> {
  const lines = (await textOfFile(file)).split('\n').filter((line) => line.trim() !== '');
  const read = z
    .array(headSchema)
    .min(1)
    .safeParse(lines.map((line) => parseJson(line)));
  if (read.success) return { file, heads: read.data };
  throw new CommandError(
    'usage',
    `${file} does not consist of heads. It must have one per line, as \`ledger heads --all -o jsonl\` prints them.`,
  );
}

const headSchema = z.object({
  account: z.string(),
  seq: z.int(),
  hash: z.string(),
  at: z.int(),
  signature: z.string(),
});
const checkedSchema = z.object({ violations: z.array(z.object({ message: z.string() })) });

const resultSchema = z.object({
  accounts: z.int(),
  entries: z.int(),
  open_holds: z.object({ workflow: z.int(), lease: z.int(), creation: z.int() }),
  exported_heads: z
    .object({
      days: z.int(),
      heads: z.int(),
      newest: z.string().optional(),
      not_compared: z.array(z.string()),
    })
    .nullable(),
  violation_count: z.int(),
  violations: z.array(z.record(z.string(), z.unknown())),
});

interface Shown {
  readonly output: Output;
  readonly heads: GivenHeads | undefined;
}

function showResult(result: Result, { output, heads: given }: Shown): void {
  const { accounts, entries, open_holds: open, violation_count: count, violations } = result;
  const { days = 0, heads = 0, newest, not_compared: unread = [] } = result.exported_heads ?? {};
  if (count > 0) output.rows(violations, { columns: ['account', 'invariant', 'message'] });
  output.note(`${accounts} accounts, ${entries} entries: ${count} violations.`);
  output.note(
    `Open holds: ${open.workflow} for running workflows, ${open.lease} for images, ${open.creation} for tasks being created.`,
  );
  if (given !== undefined) output.note(`Compared ${given.heads.length} heads of ${given.file}.`);
  if (newest !== undefined) {
    output.note(`Compared ${heads} exported heads from ${days} days; the newest day is ${newest}.`);
  } else if (given === undefined) {
    output.note(
      'No exported heads were compared, so this verification does not prove that nobody removed entries together with their anchors. See `ledger.heads`.',
    );
  }
  if (unread.length > 0) {
    output.note(
      `The exported heads of ${unread.length} days could not be read and were not compared: ${unread.at(-1)} to ${unread[0]}.`,
    );
  }
}
