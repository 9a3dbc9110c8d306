import type { Command } from 'commander';
import { lookCommand, type CliContext } from './context.ts';
import { CommandError } from './command-error.ts';
import type { Explanation } from './explanation.ts';
import type { Output } from './output.ts';
import { examples } from './program.js';
import { addWhyCommand } from './why.ts';

export function addRouteCommands(route: Command, context: CliContext): void {
  addExplainCommand(route, context);
  addWhyCommand(route, context);
}

function addExplainCommand(route: Command, context: CliContext): void {
  route
    .command('explain')
    .description(
      'Shows which channels a request would try now, in order, and why it would not try the others.',
    )
    .addHelpText(
      'after',
      examples(
        'route explain clip-1',
        'route explain clip-1 --key key_… --request \'{"resolution":"1080p"}\'',
      ),
    )
    .argument('<model>')
    .option('--request <json>', 'more fields for the create request, such as \'{"resolution":"1080p"}\'')
    .option('--key <id>', 'use the permissions of this key')
    .action(
      lookCommand(
        context,
        async ({ client, output }, model: string, options: { request?: string; key?: string }) => {
          const request = { model, ...parseFields(options.request ?? '{}') };
          const { explanationSchema } = await import('./explanation.ts');
          const answer = explanationSchema.parse(
            await client.call('POST', '/routes/explain', { request, key: options.key }),
          );
          if (output.isJson) output.item(answer);
          else {
            const { healthLines } = await import('./health.ts');
            showExplanation(answer, output);
            for (const line of healthLines(answer.health)) output.note(line);
          }
        },
      ),
    );
}

function showExplanation(explanation: Explanation, output: Output): void {
  const { candidates, dropped, fallback, refusal } = explanation;
  const tried = candidates.map(({ waits, ...candidate }, index) => ({
    ...candidate,
    verdict: waits ? `waited for as number ${index + 1}` : `tried as number ${index + 1}`,
  }));
  const left = dropped.map(({ channel, reason, detail }) => ({ channel, verdict: reason, detail }));
  output.rows([...tried, ...left], { columns: ['channel', 'credential', 'verdict', 'detail'] });
  output.note(fallback === undefined ? 'Fallback: none. A failed job ends its task.' : wordsOf(fallback));
  if (refusal !== undefined) output.note(`Rejected with ${refusal.code}: ${refusal.message}`);
}

function wordsOf({
  channels,
  candidates,
  on,
  allow_moderation: isAllowed,
}: NonNullable<Explanation['fallback']>): string {
  const usable = candidates.map(({ channel, credential }) => `${channel}/${credential}`);
  const possible =
    usable.length === 0 ? 'this request cannot use any of them' : `this request: ${usable.join(', ')}`;
  const moderation = isAllowed ? 'may go to another vendor' : 'is not sent to another vendor';
  return [
    `Fallback: after ${on.join(', ')}, another job is submitted to ${channels.join(', ')} if the failed job is not billed (${possible}).`,
    `          Content that one vendor rejected ${moderation}.`,
  ].join('\n');
}

export function parseFields(text: string, source = '--request'): object {
  try {
    const fields: unknown = JSON.parse(text);
    if (typeof fields === 'object' && fields !== null && !Array.isArray(fields)) return fields;
  } catch {
    // Ignore the parser's message. The error below quotes the text, which is more useful.
  }
  throw new CommandError('usage', `${source} must be a JSON object, not ${text.slice(0, 200)}`);
}
