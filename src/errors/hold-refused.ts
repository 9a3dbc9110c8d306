import type { CapState } from '../money/caps.ts';
import { GatewayError, serviceUnavailable } from './errors.ts';
import { formatMicros, type Micros } from '../money/money.ts';
import { isoSeconds } from '../base/times.ts';

const owners = { key: 'this API key', model: 'this API key with this model', end_user: 'this end user' };
const spans = { day: 'a day', month: 'a month', total: 'in total' };

type HoldRefusal =
  | { readonly refused: 'voided' }
  | { readonly refused: 'capped'; readonly cap: CapState }
  | { readonly refused: 'insufficient_balance'; readonly available: Micros };

export function holdRefused(hold: Micros, why: HoldRefusal): GatewayError {
  if (why.refused === 'voided') return serviceUnavailable('the hold was abandoned');
  const cost = `The request may cost up to ${formatMicros(hold)}`;
  if (why.refused === 'insufficient_balance') {
    const message = `${cost}, but only ${formatMicros(why.available)} is available.`;
    return new GatewayError('insufficient_balance', message);
  }
  const { scope, window, limit, left, resetsAt } = why.cap;
  const reset =
    resetsAt === undefined ? 'The cap does not reset.' : `The cap resets at ${isoSeconds(resetsAt)}.`;
  return new GatewayError(
    'spend_cap_exceeded',
    `${cost}, but only ${formatMicros(left)} is left of the cap of ${formatMicros(limit)} ${spans[window]} for ${owners[scope]}. ${reset}`,
    { cap: why.cap },
  );
}
