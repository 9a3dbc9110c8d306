import { GatewayError } from '../errors/errors.ts';
import { carries } from '../intake/carries.ts';
import { isUsed } from '../models/model-facts.ts';
import type { PlainFacts } from '../models/model-facts.ts';
import type { GenerationRequest } from '../models/request.ts';
import type { RequestIssue } from '../providers/provider.ts';

/** Refuses a strict request with ignored fields. Throws GatewayError. */
export function refuseIgnored([first]: readonly string[]): void {
  if (first !== undefined)
    throw new GatewayError(
      'unsupported_parameter',
      `The parameter ${first} would be ignored, and the request is strict.`,
      { param: first },
    );
}

/** Finds the first parameter with media or an address that the model does not use. */
export function lostMedia(request: GenerationRequest, facts: PlainFacts): RequestIssue | undefined {
  const lost = Object.entries(request.extra).find(
    ([name, value]) => !isUsed(name, facts) && carries(name, value),
  );
  if (lost === undefined) return undefined;
  const param = request.kind === 'video' ? `metadata.${lost[0]}` : lost[0];
  return { param, message: `${param} brings media or an address, and the model does not use it.` };
}
