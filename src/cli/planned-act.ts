import { z } from 'zod';
import { actionTable, needsPlan, type OperatorActionName } from '../operating/acts.ts';
import { CommandError } from './command-error.ts';
import type { Terminal } from './terminal.ts';

const said = z.object({ task: z.string(), money: z.string() });

export const triedSchema = z.object({ would: said, plan: z.string() });
export const doneSchema = z.object({ did: said });

export interface Confirmation {
  readonly action: OperatorActionName;
  readonly plan?: string | undefined;
  readonly isConfirmed: boolean;
  readonly terminal: Terminal | undefined;
}

/**
 * An action that moves money or may be billed twice needs the plan from a dry run. Operators confirm the plan in the
 * terminal, and scripts pass it as an option. Throws CommandError if neither is possible.
 */
export function requireConfirmable({ action, plan, isConfirmed, terminal }: Confirmation): void {
  if (plan !== undefined) return;
  if (needsPlan(action)) {
    if (terminal !== undefined && !isConfirmed) return;
    const how = 'Run with --dry-run first, then run again with the plan it prints: --plan PLAN.';
    throw new CommandError('usage', `\`${action}\` moves money or can cause double billing. ${how}`);
  }
  if (terminal !== undefined || isConfirmed) return;
  throw new CommandError(
    'usage',
    'There is no terminal in which to ask for confirmation. Add --yes, or use --dry-run to see the effect.',
  );
}

export async function isConfirmed({ action, plan, isConfirmed: answered, terminal }: Confirmation) {
  if (plan !== undefined || answered || terminal === undefined) return true;
  const { confirmation } = actionTable[action];
  return terminal.confirm(confirmation === undefined ? 'Continue?' : `${confirmation} Continue?`);
}
