import { z } from 'zod';
import { actionTable, needsPlan } from '../task/acts.ts';
import type { OperatorActionName } from '../task/acts.ts';
import { CommandError } from './command-error.ts';
import type { Terminal } from './terminal.ts';

/**
 * An act that moves money or can be billed twice needs somebody who has seen its dry run: a person at the terminal, or a
 * script that names the plan.
 */

const said = z.object({ task: z.string(), money: z.string() });

/** The `result` of a dry run. */
export const triedSchema = z.object({ would: said, plan: z.string() });
/** The `result` of an act. */
export const doneSchema = z.object({ did: said });

/** How an act is confirmed on the command line. */
export interface Confirmation {
  readonly action: OperatorActionName;
  readonly plan?: string | undefined;
  /** Nobody has to be asked. */
  readonly isConfirmed: boolean;
  /** Undefined: nobody watches. */
  readonly terminal: Terminal | undefined;
}

/** Throws CommandError where nobody has seen what the act does, and nobody can be asked. */
export function requireConfirmable({ action, plan, isConfirmed, terminal }: Confirmation): void {
  if (plan !== undefined) return;
  if (needsPlan(action)) {
    if (terminal !== undefined && !isConfirmed) return;
    const how = 'Try it with --dry-run, and name the plan that is shown: --plan PLAN.';
    throw new CommandError('usage', `\`${action}\` moves money, or can be billed twice. ${how}`);
  }
  if (terminal !== undefined || isConfirmed) return;
  throw new CommandError(
    'usage',
    'There is no terminal to ask for confirmation. Add --yes, or try it with --dry-run.',
  );
}

/** Asks the person at the terminal, unless a plan or `--yes` has answered. */
export async function isConfirmed({ action, plan, isConfirmed: answered, terminal }: Confirmation) {
  if (plan !== undefined || answered || terminal === undefined) return true;
  const { confirmation } = actionTable[action];
  return terminal.confirm(confirmation === undefined ? 'Continue?' : `${confirmation} Continue?`);
}
