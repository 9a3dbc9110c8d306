import { createHash } from 'node:crypto';
import { canonicalJson } from '../base/canonical-json.ts';
import type { ActionInput } from '../operating/act-fields.ts';
import { planOutdated, type ActionResult, type OperatorActionName, type Said } from '../operating/acts.ts';

/** Synchronous images have no record and therefore no revision. For them, `rev` is the number of ledger entries. */
export interface Planned {
  readonly id: string;
  readonly rev: number;
  readonly action: OperatorActionName;
  readonly input: ActionInput;
}

const planCharacters = 16;

/** The hash leaves out the operator, so a second operator can confirm the first one's plan. */
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
