import type { CallbackState } from './callback-record.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
/** The delay after each failed request. Delivery is abandoned after the last one. */
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

/** `n` counts from 1. `random` is from 0 to 1. */
export function callbackRetryDelayMs(n: number, random: number): number {
  return Math.round((delaysMs[n - 1] ?? hour) * (0.9 + 0.2 * random));
}

/** `status` is undefined if there was no response to the n-th request. */
export function callbackStateAfter(status: number | undefined, n: number): CallbackState {
  if (status !== undefined && status >= 200 && status < 300) return 'delivered';
  return status === statusGone || n >= callbackTriesMax ? 'gave_up' : 'pending';
}
