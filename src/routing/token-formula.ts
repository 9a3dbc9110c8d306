import { defined } from '../base/defined.ts';
import type { GenerationRequest } from '../models/request.ts';
import type { ChargeInput } from '../money/charge.ts';
import { factsAt, type PriceBasis } from '../money/price.ts';
import type { TaskProvider } from '../providers/provider.ts';
import { isUnmeasured, noInput } from './given-counts.ts';

export interface FormulaTerms {
  readonly provider: Pick<TaskProvider<GenerationRequest>, 'estimateTokens'> | undefined;
  readonly request: GenerationRequest;
  readonly basis: PriceBasis;
  readonly channel: string;
  readonly upstream: string | undefined;
}

export function tokenFormula(terms: FormulaTerms): ChargeInput['tokensOf'] {
  const { provider, request, basis, channel, upstream } = terms;
  const asked = factsAt(basis, channel);
  return (facts) => {
    const { resolution = asked.resolution, ratio = asked.ratio, durationSeconds } = facts;
    if (resolution === undefined || ratio === undefined || durationSeconds === undefined) return undefined;
    const known = defined({ inputSeconds: facts.inputSeconds ?? basis.input_seconds });
    const given = isUnmeasured(request, known) ? noInput : known;
    return provider?.estimateTokens?.(request, { resolution, ratio, durationSeconds, ...given }, upstream);
  };
}
