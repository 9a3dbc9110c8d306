import type { Command } from 'commander';
import { outputOf } from './context.ts';
import type { CliContext } from './context.ts';

export function addProjectionCommands(projection: Command, context: CliContext): void {
  projection
    .command('rebuild')
    .description('Restores missing task documents from Temporal, the ledger and the upstreams.')
    .action(async (_options: object, command: Command) => {
      const output = outputOf(command, context);
      const { present, rebuilt, withoutResult, refused } = await context.rebuildProjection();
      output.item({ present, rebuilt, without_result: withoutResult, refused });
      if (withoutResult > 0)
        output.note('without_result: succeeded, but the upstream no longer reports the links.');
    });
}
