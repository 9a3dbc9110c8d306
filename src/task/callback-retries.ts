import type { CallbackState } from './callback-record.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
/** Each delay follows a failed request. If the request after the last delay also fails, the delivery is abandoned. */
const delaysMs = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];

export const callbackTriesMax = delaysMs.length + 1;

const statusGone = 410;

/** `n` is the number of the failed request, starting at 1. `random` is between 0 and 1 and varies the delay by 10 %. */
export function callbackRetryDelayMs(n: number, random: number): number {
  return Math.round((delaysMs[n - 1] ?? hour) * (0.9 + 0.2 * random));
}

export function callbackStateAfter(status: number | undefined, n: number): CallbackState {
  if (status !== undefined && status >= 200 && status < 300) return 'delivered';
  return status === statusGone || n >= callbackTriesMax ? 'gave_up' : 'pending';
}
