import { z } from 'zod';
import { actionTable, needsPlan } from '../task/acts.ts';
import type { OperatorActionName } from '../task/acts.ts';
import { CommandError } from './command-error.ts';
import type { Terminal } from './terminal.ts';

/**
 * An act that moves money or may be billed twice needs a dry run first. Afterwards, an operator confirms it at
 * the terminal, or a script passes the plan.
 */

const said = z.object({ task: z.string(), money: z.string() });

/** A dry run's `result`. */
export const triedSchema = z.object({ would: said, plan: z.string() });
/** The `result` of an executed act. */
export const doneSchema = z.object({ did: said });

/** How an act is confirmed on the command line. */
export interface Confirmation {
  readonly action: OperatorActionName;
  readonly plan?: string | undefined;
  /** Whether to act without asking for confirmation. */
  readonly isConfirmed: boolean;
  /** Undefined if nobody is at the terminal. */
  readonly terminal: Terminal | undefined;
}

/** Throws CommandError if the act needs a confirmation that cannot be obtained. */
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

/** Asks the operator at the terminal, unless a plan or `--yes` has already confirmed the act. */
export async function isConfirmed({ action, plan, isConfirmed: answered, terminal }: Confirmation) {
  if (plan !== undefined || answered || terminal === undefined) return true;
  const { confirmation } = actionTable[action];
  return terminal.confirm(confirmation === undefined ? 'Continue?' : `${confirmation} Continue?`);
}
