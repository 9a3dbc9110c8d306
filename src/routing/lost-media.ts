import { carries } from '../intake/carries.ts';
import { isUsed } from '../models/facts-of-request.ts';
import type { PlainFacts } from '../models/model-facts.ts';
import type { GenerationRequest } from '../models/request.ts';
import type { RequestIssue } from '../providers/provider.ts';

export function lostMedia(request: GenerationRequest, facts: PlainFacts): RequestIssue | undefined {
  const lost = Object.entries(request.extra).find(
    ([name, value]) => !isUsed(name, facts) && carries(name, value),
  );
  if (lost === undefined) return undefined;
  const param = request.kind === 'video' ? `metadata.${lost[0]}` : lost[0];
  return {
    param,
    message: `${param} contains media, a URL or a destination that the model does not use.`,
  };
}
