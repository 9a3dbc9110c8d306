import type { Command } from 'commander';
import { outputOf, type CliContext } from './context.ts';
import { examples } from './program.js';

export function addSecretCommands(secrets: Command, context: CliContext): void {
  secrets
    .command('rotate')
    .description(
      'Reseals all sealed values using the first key of SECRETS_KEY, directly in MongoDB. Exits with status 1 if a value still needs a different key.',
    )
    .option('--reason <text>')
    .addHelpText('after', examples('secrets rotate --reason yearly'))
    .action(async ({ reason = '' }: { readonly reason?: string }, command: Command) => {
      const output = outputOf(command, context);
      const onProgress = (line: string) => output.note(line);
      const { keyId, rewritten, left } = await context.rotateSecrets({ reason, onProgress });
      const count = [...left.values()].reduce((sum, values) => sum + values, 0);
      output.item({ key: keyId, fields_rewritten: rewritten, values_with_other_keys: count });
      if (count === 0) {
        output.note('SECRETS_KEY can now be reduced to its first key.');
        return;
      }
      context.fail(1);
      for (const [key, values] of left) output.note(`${values} values need the key ${key}.`);
      output.note(
        'Keep these keys in SECRETS_KEY. Run this again once every process seals with the first key.',
      );
    });
}
