import { createHash } from 'node:crypto';
import { canonicalJson } from '../base/canonical-json.ts';
import type { ActionInput } from '../operating/act-fields.ts';
import { planOutdated } from '../operating/acts.ts';
import type { ActionResult, OperatorActionName, Said } from '../operating/acts.ts';

/**
 * An action planned for a particular revision of a record. Synchronous images have no record, so their `rev` is the
 * number of their ledger entries.
 */
export interface Planned {
  readonly id: string;
  readonly rev: number;
  readonly action: OperatorActionName;
  readonly input: ActionInput;
}

const planCharacters = 16;

/**
 * Returns the plan, a hash of the action, its fields and the task's revision. The operator is left out, so another
 * operator may use the plan.
 */
function planOf({ id, rev, action, input }: Planned): string {
  const { by: _by, reason: _reason, dry_run: _isDryRun, plan: _plan, ...fields } = input;
  const text = canonicalJson([id, rev, action, fields]);
  return createHash('sha256').update(text).digest('hex').slice(0, planCharacters);
}

export function planRefusal(planned: Planned): string | undefined {
  const { plan } = planned.input;
  return plan === undefined || plan === planOf(planned) ? undefined : planOutdated;
}

export function resultOf(said: Said, planned: Planned): ActionResult {
  return planned.input.dry_run === true ? { would: said, plan: planOf(planned) } : { did: said };
}
