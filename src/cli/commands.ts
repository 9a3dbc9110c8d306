import type { Command } from 'commander';
import { addAccountCommands } from './accounts.ts';
import { addChannelCommands } from './channels.ts';
import { addConfigCommands } from './config.ts';
import { addCommonOptions } from './context.ts';
import type { CliContext } from './context.ts';
import { addKeyCommands } from './keys.ts';
import { addLedgerCommands } from './ledger.ts';
import { addProjectionCommands } from './projection.ts';
import { addRouteCommands } from './route.ts';
import { addTaskCommands } from './tasks.ts';

/** The operators' verbs: calls of the operators' API, but for `config check`, `ledger verify` and `projection rebuild`. */
export function addOperatorCommands(program: Command, context: CliContext): void {
  addCommonOptions(program);
  addAccountCommands(program, context);
  addKeyCommands(program, context);
  addTaskCommands(program, context);
  addLedgerCommands(program, context);
  addChannelCommands(program, context);
  addRouteCommands(program, context);
  addConfigCommands(program, context);
  addProjectionCommands(program, context);
}
