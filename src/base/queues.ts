/** Names shared by workers, clients and workflows. A prefix lets several gateways share a Temporal namespace. */

export const workflowTypes = {
  task: 'generationTask',
  redelivery: 'redeliverCallback',
  reconciler: 'reconcileTasks',
} as const;

/**
 * The search attributes, all of type Keyword. Local mode registers them itself; docker-compose.yml does so in
 * production.
 */
export const searchAttributeNames = [
  'MediaModel',
  'MediaChannel',
  'MediaAccount',
  'MediaStatus',
  'MediaFailure',
  'UpstreamTaskId',
  'NeedsAttention',
] as const;

/** Stable activity ids, which operators use in the Temporal UI and on the command line. */
export const activityIds = { submit: 'submit', poll: 'poll', find: 'find' } as const;

/** The activities that may wait for a job to end. An attended submission also waits for it. */
export const pollingActivities: readonly string[] = [activityIds.poll, activityIds.submit];

export function tasksQueue(prefix: string): string {
  return `${prefix}tasks`;
}

export function callbacksQueue(prefix: string): string {
  return `${prefix}callbacks`;
}

/** Returns the queue for submissions and for the waits of attended submissions. */
export function channelQueue(prefix: string, channel: string): string {
  return `${prefix}channel-${channel}`;
}

/** Channel ids contain no colon, so no other channel's queue can have this name. */
const pollsEnd = ':polls';

/**
 * Returns the queue for everything after a submission that is not, or is no longer, attended. Because of it, polls,
 * final polls, cancellations and searches for lost jobs never wait behind submissions.
 */
export function pollsQueue(prefix: string, channel: string): string {
  return `${channelQueue(prefix, channel)}${pollsEnd}`;
}

export function isPollsQueue(queue: string): boolean {
  return queue.endsWith(pollsEnd);
}

/** Returns the prefix of a workflow's own queue. Workflows derive the gateway's other queue names from it. */
export function prefixOf(tasksQueueName: string): string {
  return tasksQueueName.replace(/tasks$/, '');
}

/** The prefix of a task timer's summary. The summary is for people and is not encrypted (payload-codec.ts). */
export const waitSummaryStart = 'Waits: ';

/**
 * Returns a visibility store query that finds the tasks of the gateway with these queues. Other gateways may share the
 * server.
 */
export function tasksOf(prefix: string): string {
  return `WorkflowType = '${workflowTypes.task}' AND TaskQueue = '${tasksQueue(prefix)}'`;
}
