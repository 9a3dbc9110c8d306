import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import { formatEvents } from '../flight/timeline.ts';
import { flightRecordSchema } from '../flight/flight-record.ts';
import type { AdminClient, Row } from './admin-client.ts';
import { CommandError } from './command-error.ts';
import { adminCommand, lookCommand, type CliContext } from './context.ts';
import { cannotWrite } from './replace-file.ts';
import { situationLines } from './situation-lines.ts';
import { healthLines } from './health.ts';
import { examples } from './program.js';

export function addRecordCommands(tasks: Command, context: CliContext): void {
  tasks
    .command('show')
    .description('Shows a task and its events in order, with the time since its creation.')
    .addHelpText('after', examples('tasks show task_…'))
    .argument('<id>')
    .action(
      lookCommand(context, async ({ client, output }, id: string) => {
        const task = await client.call('GET', taskPath(id));
        const record = await client.call('GET', `${taskPath(id)}/record`);
        const { situation, health, ...facts } = task;
        output.note(situationLines(situation));
        for (const line of healthLines(health)) output.note(`${line}\n`);
        output.note(`${eventLines(record)}\n`);
        output.item({ ...task, record }, { ...facts, ledger: ledgerLines(task['ledger']) });
      }),
    );

  tasks
    .command('export')
    .description(
      'Writes a task’s record and workflow history to one JSON file. ' +
        'The file does not contain the caller’s request, keys, or links’ query strings.',
    )
    .addHelpText('after', examples('tasks export task_… --out record.json'))
    .argument('<id>')
    .option('--out <file>', 'default: <id>.json')
    .action(
      adminCommand(
        context,
        async ({ client, output }, ...[id, options]: [string, { readonly out?: string }]) => {
          const record = await readRecord(client, id);
          const file = options.out ?? `${id}.json`;
          await writeFile(file, `${JSON.stringify(record, null, 1)}\n`).catch(cannotWrite(file));
          output.item({ written: file });
        },
      ),
    );
}

const entrySchema = z.object({
  kind: z.string(),
  amount: z.string(),
  available: z.string(),
  held: z.string(),
  cost: z.string().nullish(),
  note: z.string().nullish(),
  at: z.number(),
});

/** Omits the fields that are the same for all of the task's entries. `gateway ledger show` prints all fields. */
function ledgerLines(entries: unknown): readonly Row[] | undefined {
  return z.array(entrySchema).optional().parse(entries);
}

function taskPath(id: string): string {
  return `/tasks/${encodeURIComponent(id)}`;
}

async function readRecord(client: AdminClient, id: string): Promise<Row> {
  const record = await client.call('GET', `${taskPath(id)}/record?history=true`);
  const { error } = flightRecordSchema.safeParse(record);
  if (error !== undefined)
    throw new CommandError(
      'failed',
      'This command cannot read the gateway’s records, because the versions differ. Use the command from the gateway’s version.',
    );
  return record;
}

function eventLines(record: Row): string {
  const { data } = flightRecordSchema.safeParse(record);
  if (data === undefined) return '  This program does not support the version of the gateway’s record.';
  return formatEvents(data.task.created_at, data.events)
    .map((line) => `  ${line}`)
    .join('\n');
}
