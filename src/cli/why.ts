import type { Command } from 'commander';
import { z } from 'zod';
import { lookCommand, type CliContext } from './context.ts';
import { examples } from './program.js';
import { situationLines } from './situation-lines.ts';
import { formatTime } from './table.ts';

const waitSchema = z.object({
  cause: z.string(),
  text: z.string(),
  channel: z.string().nullable(),
  credential: z.string().nullable(),
  code: z.string().nullable(),
  ahead: z.number().nullable(),
  since: z.number(),
  ended_at: z.number().nullable(),
  times: z.number(),
});

const whySchema = z.object({
  situation: z.unknown(),
  waits: z.array(waitSchema),
  attempts: z.array(
    z.object({
      n: z.number(),
      state: z.string(),
      channel: z.string(),
      credential: z.string(),
      code: z.string().nullable(),
    }),
  ),
});

/** About as many rows as fit on a screen. */
const waitsShown = 20;

export function addWhyCommand(route: Command, context: CliContext): void {
  route
    .command('why')
    .description('Shows why a task is waiting, why it waited earlier, and which channels were tried.')
    .addHelpText('after', examples('route why task_…'))
    .argument('<task>')
    .action(
      lookCommand(context, async ({ client, output }, task: string) => {
        const answer = whySchema.parse(await client.call('GET', `/tasks/${encodeURIComponent(task)}`));
        if (output.isJson) return output.item(answer);
        const { situation, waits, attempts } = answer;
        output.note(situationLines(situation));
        output.rows(waits.slice(-waitsShown).map(waitRow), {
          columns: ['since', 'ended', 'cause', 'where', 'ahead', 'times', 'text'],
        });
        if (attempts.length > 0)
          output.rows(attempts, { columns: ['n', 'channel', 'credential', 'state', 'code'] });
      }),
    );
}

function waitRow({
  channel,
  credential,
  code,
  ended_at: ended,
  since,
  ...wait
}: z.output<typeof waitSchema>) {
  const place = channel === null ? '' : `${channel}/${credential ?? ''}`;
  return {
    ...wait,
    since: formatTime(since),
    ended: ended === null ? 'not yet' : formatTime(ended),
    where: code === null ? place : `${place} (${code})`.trim(),
  };
}
