import type { IndexShape } from './mongo.ts';

export const attemptIndexes: readonly IndexShape[] = [
  { name: 'task_n', key: { task: 1, n: 1 } },
  // The id of an upstream is unique within its channel only; one field, since a compound index is not sparse enough.
  { name: 'job', key: { job: 1 }, unique: true, sparse: true },
  { name: 'upstream_id', key: { upstream_id: 1 }, sparse: true },
];

export function jobKey(channel: string, upstreamId: string): string {
  return `${channel}/${upstreamId}`;
}
