import { z } from 'zod';
import { actionTable, needsPlan } from '../task/acts.ts';
import type { OperatorActionName } from '../task/acts.ts';
import { CommandError } from './command-error.ts';
import type { Terminal } from './terminal.ts';

/**
 * An act that moves money or can be billed twice needs a dry run first. A person at the terminal then confirms it; a
 * script names its plan.
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
  /** The act is done without asking. */
  readonly isConfirmed: boolean;
  /** Undefined if there is nobody to ask. */
  readonly terminal: Terminal | undefined;
}

/** Throws CommandError if the act needs a confirmation that it cannot get. */
export function requireConfirmable({ action, plan, isConfirmed, terminal }: Confirmation): void {
  if (plan !== undefined) return;
  if (needsPlan(action)) {
    if (terminal !== undefined && !isConfirmed) return;
    const how = 'Run it with --dry-run first, then add the plan that it shows: --plan PLAN.';
    throw new CommandError('usage', `\`${action}\` moves money or can be billed twice. ${how}`);
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
