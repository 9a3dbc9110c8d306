/**
 * Limits a worker process's open activity polls. Temporal's server allows 1,200 per namespace
 * (`frontend.namespaceCount`) across all processes and refuses any more, so that some queues are served late.
 */

export const namespacePollsDefault = 1200;

/** The queues are `tasks`, `callbacks`, and two per channel. */
const queuePollsMax = 10;
const fixedQueues = 2;
const queuesPerChannel = 2;

/** For all channels together. The rest is for a second small process and for queues added by a reload. */
const channelPollsMax = 800;

/**
 * How many polls each of this many new channel queues may have. `open` counts the open polls of other channels. Every
 * queue gets at least one.
 */
export function pollsPerQueue(queues: number, open = 0): number {
  const share = Math.floor((channelPollsMax - open) / Math.max(queues, 1));
  return Math.min(Math.max(share, 1), queuePollsMax);
}

export function pollsOfWorker(channels: number): number {
  const queues = channels * queuesPerChannel;
  return fixedQueues * queuePollsMax + queues * pollsPerQueue(queues);
}
