import type { Duration } from '../../domain/request.ts';
import type { RequestIssue } from '../provider.ts';

/** The lengths that a model renders, in seconds: these, or every whole second between two. */
type Lengths = readonly number[] | { readonly min: number; readonly max: number };

/** Why the model does not render this length. `auto`: it chooses one for -1. */
export function secondsIssue(
  duration: Duration | undefined,
  lengths: Lengths,
  auto = false,
): RequestIssue | undefined {
  if (duration === undefined || (duration === 'auto' && auto)) return undefined;
  if (duration === 'auto') return { param: 'duration', message: 'The model does not choose a duration.' };
  if (!('min' in lengths)) {
    return lengths.includes(duration)
      ? undefined
      : { param: 'duration', message: `duration must be one of ${lengths.join(', ')}.` };
  }
  const { min, max } = lengths;
  return Number.isInteger(duration) && duration >= min && duration <= max
    ? undefined
    : { param: 'duration', message: `duration must be a whole number of seconds from ${min} to ${max}.` };
}
