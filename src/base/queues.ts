/**
 * Workflow types. Workers, clients and workflows share the names in this file. A prefix lets multiple gateways share a
 * Temporal namespace.
 */

export const workflowTypes = {
  task: 'generationTask',
  redelivery: 'redeliverCallback',
  reconciler: 'reconcileTasks',
} as const;

/** Search attributes, all of type Keyword. Local mode registers them itself. In production, docker-compose.yml does. */
export const searchAttributeNames = [
  'MediaModel',
  'MediaChannel',
  'MediaAccount',
  'MediaStatus',
  'MediaFailure',
  'UpstreamTaskId',
  'NeedsAttention',
] as const;

/** Activity ids. They must never change, because operators use them in the Temporal UI and on the command line. */
export const activityIds = { submit: 'submit', poll: 'poll', find: 'find' } as const;

/** The attended submission is included because it also waits for its job to finish. */
export const pollingActivities: readonly string[] = [activityIds.poll, activityIds.submit];

export function tasksQueue(prefix: string): string {
  return `${prefix}tasks`;
}

export function callbacksQueue(prefix: string): string {
  return `${prefix}callbacks`;
}

/** The queue for submissions. Attended submissions also wait here for their jobs to finish. */
export function channelQueue(prefix: string, channel: string): string {
  return `${prefix}channel-${channel}`;
}

/** The ending of a polls queue. Channel ids cannot contain a colon, so no other channel's queue can have this name. */
const pollsEnd = ':polls';

/**
 * The queue for polls, final polls, cancellations and searches for lost jobs, which therefore never wait behind
 * submissions. Attended submissions stay on `channelQueue` while they wait.
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

/**
 * The prefix of a task timer's summary. The summary is not encrypted (payload-codec.ts), so that operators can read
 * it.
 */
export const waitSummaryStart = 'Waits: ';

/**
 * Returns a visibility query for the tasks of the gateway with this prefix. Other gateways may share the Temporal
 * server.
 */
export function tasksOf(prefix: string): string {
  return `WorkflowType = '${workflowTypes.task}' AND TaskQueue = '${tasksQueue(prefix)}'`;
}
