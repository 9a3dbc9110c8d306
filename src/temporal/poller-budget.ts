/**
 * The number of open polls that a Temporal server allows by default per namespace, across all processes
 * (`frontend.namespaceCount`). The server rejects any further polls, so some queues would be served late.
 */
export const namespacePollsDefault = 1200;

/** The maximum per queue. A worker serves the queues `tasks` and `callbacks`, and two queues per channel. */
const queuePollsMax = 10;
const fixedQueues = 2;
const queuesPerChannel = 2;

/**
 * The maximum for all channels together. The rest is left for a second small process and for queues added by a reload.
 */
const channelPollsMax = 800;

export function pollsPerQueue(queues: number, open = 0): number {
  const share = Math.floor((channelPollsMax - open) / Math.max(queues, 1));
  return Math.min(Math.max(share, 1), queuePollsMax);
}

export function pollsOfWorker(channels: number): number {
  const queues = channels * queuesPerChannel;
  return fixedQueues * queuePollsMax + queues * pollsPerQueue(queues);
}
