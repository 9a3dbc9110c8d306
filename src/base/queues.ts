/**
 * Workers, clients and workflows share the names in this file. With a prefix, several gateways can share a Temporal
 * namespace.
 */

export const workflowTypes = {
  task: 'generationTask',
  redelivery: 'redeliverCallback',
  reconciler: 'reconcileTasks',
} as const;

/** All are of type Keyword. Local mode registers them itself. In production, docker-compose.yml does. */
export const searchAttributeNames = [
  'MediaModel',
  'MediaChannel',
  'MediaAccount',
  'MediaStatus',
  'MediaFailure',
  'UpstreamTaskId',
  'NeedsAttention',
] as const;

/** These ids must never change, because operators use them in the Temporal UI and on the command line. */
export const activityIds = { submit: 'submit', poll: 'poll', find: 'find' } as const;

/** A submission also polls, because the same activity waits for the job. */
export const pollingActivities: readonly string[] = [activityIds.poll, activityIds.submit];

export function tasksQueue(prefix: string): string {
  return `${prefix}tasks`;
}

export function callbacksQueue(prefix: string): string {
  return `${prefix}callbacks`;
}

/** Returns the queue for submissions. Some of them also wait there for their jobs to finish. */
export function channelQueue(prefix: string, channel: string): string {
  return `${prefix}channel-${channel}`;
}

/** Channel ids contain no colon, so no other channel's queue can have this name. */
const pollsEnd = ':polls';

/**
 * Returns the queue for polls, cancellations and searches for lost jobs. It is a separate queue so that they never wait
 * behind submissions.
 */
export function pollsQueue(prefix: string, channel: string): string {
  return `${channelQueue(prefix, channel)}${pollsEnd}`;
}

export function isPollsQueue(queue: string): boolean {
  return queue.endsWith(pollsEnd);
}

export function prefixOf(tasksQueueName: string): string {
  return tasksQueueName.replace(/tasks$/, '');
}

/** Operators must be able to read the summary, so payload-codec.ts does not encrypt text that starts like this. */
export const waitSummaryStart = 'Waits: ';

/** Selects the tasks of the gateway with this prefix, because other gateways may use the same Temporal server. */
export function tasksOf(prefix: string): string {
  return `WorkflowType = '${workflowTypes.task}' AND TaskQueue = '${tasksQueue(prefix)}'`;
}
