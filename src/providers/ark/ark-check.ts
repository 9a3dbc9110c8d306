import type { VideoRequest } from '../../models/request.ts';
import { pricedPromptFlag } from '../shared/seedance-pricing.ts';
import { frameCounts } from './ark-facts.ts';
import type { RequestIssue } from '../provider.ts';
import { issue } from '../shared/request-issue.ts';

/**
 * Checks two rules that the facts table cannot express: prompt flags must not change the price, and `frames` has a
 * fixed step.
 */
export function checkArkVideo({ prompt, extra: { frames } }: VideoRequest): RequestIssue | undefined {
  const flag = pricedPromptFlag(prompt);
  if (flag !== undefined)
    return issue(
      'prompt',
      `The prompt contains the parameter --${flag}; use the fields resolution, ratio and duration.`,
    );
  const { min, max } = frameCounts;
  return frames === undefined ||
    (typeof frames === 'number' && frames >= min && frames <= max && (frames - 25) % 4 === 0)
    ? undefined
    : issue('metadata.frames', `frames must be 25 + 4n, from ${min} to ${max}.`);
}
