import type { Command } from 'commander';
import { adminCommand } from './context.ts';
import type { CliContext } from './context.ts';
import { CommandError } from './command-error.ts';

export function addRouteCommands(route: Command, context: CliContext): void {
  route
    .command('explain')
    .description('Which channels a request would try now, in which order, and why the others would not.')
    .argument('<model>')
    .option('--request <json>', 'further fields of the create, such as \'{"resolution":"1080p"}\'')
    .option('--key <id>', 'with the permissions of this key')
    .action(
      adminCommand(
        context,
        async ({ client, output }, model: string, options: { request?: string; key?: string }) => {
          const request = { model, ...parseFields(options.request ?? '{}') };
          const { explanationSchema } = await import('./explanation.ts');
          const answer = explanationSchema.parse(
            await client.call('POST', '/routes/explain', { request, key: options.key }),
          );
          const tried = answer.candidates.map((candidate, index) => ({
            ...candidate,
            verdict: `tried as number ${index + 1}`,
          }));
          const dropped = answer.dropped.map(({ channel, reason, detail }) => ({
            channel,
            verdict: reason,
            detail,
          }));
          output.rows([...tried, ...dropped], ['channel', 'credential', 'verdict', 'detail']);
          if (answer.refusal !== undefined)
            output.note(`Refused with ${answer.refusal.code}: ${answer.refusal.message}`);
        },
      ),
    );
}

function parseFields(text: string): object {
  try {
    const fields: unknown = JSON.parse(text);
    if (typeof fields === 'object' && fields !== null) return fields;
  } catch {
    // Reported below, with the given text.
  }
  throw new CommandError(`--request must be a JSON object, not ${text}`);
}
