/**
 * Polls for activities that one worker process keeps open at the server. Temporal's server allows 1,200 of a namespace
 * (`frontend.namespaceCount`), over all processes, and refuses the others: their queues are served late.
 */

export const namespacePollsDefault = 1200;

/** On a queue of its own: `tasks`, `callbacks`, and each of the two of a channel. */
const queuePollsMax = 10;
const fixedQueues = 2;
const queuesPerChannel = 2;

/** For all channels together; the rest is for a second small process, and for queues that a reload brings. */
const channelPollsMax = 800;

/** For each of so many further queues of channels, beside the polls of channels that are open. No queue is without. */
export function pollsPerQueue(queues: number, open = 0): number {
  const share = Math.floor((channelPollsMax - open) / Math.max(queues, 1));
  return Math.min(Math.max(share, 1), queuePollsMax);
}

/** Of one worker process that starts with so many channels. */
export function pollsOfWorker(channels: number): number {
  const queues = channels * queuesPerChannel;
  return fixedQueues * queuePollsMax + queues * pollsPerQueue(queues);
}
