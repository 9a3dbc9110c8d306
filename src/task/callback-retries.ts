import type { CallbackState } from './callback-record.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
/** Delay after each failed request; after the last one what is to be delivered is abandoned. */
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

/** Requests for one delivery. */
export const callbackTriesMax = delaysMs.length + 1;

const statusGone = 410;

/** Before the request that follows the n-th. `random`: from 0 to 1. */
export function callbackRetryDelayMs(n: number, random: number): number {
  return Math.round((delaysMs[n - 1] ?? hour) * (0.9 + 0.2 * random));
}

/** After the n-th request was answered with this status, or not at all. */
export function callbackStateAfter(status: number | undefined, n: number): CallbackState {
  if (status !== undefined && status >= 200 && status < 300) return 'delivered';
  return status === statusGone || n >= callbackTriesMax ? 'gave_up' : 'pending';
}
