import { isoSeconds } from '../base/times.ts';
import { BillError } from './bill-error.ts';
import type { Period } from './own-attempts.ts';

const daySeconds = 86_400;
const ownMax = 366;

export function limitDays({ from, to }: Period, daysMax = ownMax): void {
  if (to - from <= daysMax * daySeconds) return;
  const [first, end] = [isoSeconds(from * 1000), isoSeconds(to * 1000)];
  throw new BillError(
    `The bill covers ${first} to ${end}, which is more than ${daysMax} days. Correct its times, or compare fewer days at once.`,
  );
}
