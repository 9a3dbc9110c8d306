import { capStates, refusingCap, type CapState } from '../money/caps.ts';
import type { Caller } from '../access/caller.ts';
import type { AskedRequest, ImageRequest } from '../models/request.ts';
import { spenderOf } from '../access/spender.ts';
import type { RoutePlan } from '../routing/catalogue.ts';
import type { RouteDeps } from './deps.ts';

export async function estimatedCap(
  { caller, request }: { readonly caller: Caller; readonly request: AskedRequest | ImageRequest },
  { hold, model }: RoutePlan,
  { holdTerms, ledger }: Pick<RouteDeps, 'holdTerms' | 'ledger'>,
): Promise<CapState | undefined> {
  const { by } = await holdTerms(caller.account, spenderOf(caller, model.id, request));
  const { caps = [] } = by;
  if (caps.length === 0) return undefined;
  return refusingCap(capStates(caps, await ledger.uses(caller.account, by)), hold);
}
