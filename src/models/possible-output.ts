import { defined } from '../base/defined.ts';
import type { PlainFacts } from './model-facts.ts';
import type { VideoRequest } from './request.ts';

export function possibleOutput(
  request: VideoRequest,
  { unsaid, fields = {}, seconds }: PlainFacts,
  inputSeconds?: number,
) {
  const { resolution, duration } = request;
  const isNamed = fields.resolution === true && resolution !== undefined;
  const isTimed = fields.duration === true && typeof duration === 'number';
  const { min, max } = seconds ?? {};
  const open = min === undefined || max === undefined ? undefined : { min, max };
  const unnamed = unsaid?.seconds === undefined ? undefined : lengthsFor(unsaid.seconds, inputSeconds);
  const unsaidLengths = duration === 'auto' ? (open ?? unnamed) : unnamed;
  return defined({
    resolutions: isNamed ? undefined : unsaid?.resolutions,
    seconds: isTimed ? undefined : unsaidLengths,
    openRatio: unsaid?.open_ratio,
  });
}

type UnsaidSeconds = NonNullable<NonNullable<PlainFacts['unsaid']>['seconds']>;

/**
 * A result that should be as long as its input may be up to a second longer, because the measured length may lack a
 * frame and vendors may round up.
 */
function lengthsFor(
  { min, max, as_input: isAsInput = false }: UnsaidSeconds,
  inputSeconds: number | undefined,
) {
  if (!isAsInput || inputSeconds === undefined) return { min, max };
  const within = (length: number) => Math.min(Math.max(length, min), max);
  const usual = within(inputSeconds);
  return { min: usual, max: within(Math.floor(inputSeconds) + 1), usual };
}
