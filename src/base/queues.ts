/** Names that workers, clients and workflows share. A prefix lets several gateways use one Temporal namespace. */

export const workflowTypes = {
  task: 'generationTask',
  redelivery: 'redeliverCallback',
  reconciler: 'reconcileTasks',
} as const;

/** Search attributes, all of type Keyword. Registered by local mode; in production by docker-compose.yml. */
export const searchAttributeNames = [
  'MediaModel',
  'MediaChannel',
  'MediaAccount',
  'MediaStatus',
  'MediaFailure',
  'UpstreamTaskId',
  'NeedsAttention',
] as const;

/** Stable activity ids: operators address them in the Temporal UI and on the command line. */
export const activityIds = { submit: 'submit', poll: 'poll' } as const;

/** Those that may be waiting for the end of a job: a submission that is attended waits for it, too. */
export const pollingActivities: readonly string[] = [activityIds.poll, activityIds.submit];

export function tasksQueue(prefix: string): string {
  return `${prefix}tasks`;
}

export function callbacksQueue(prefix: string): string {
  return `${prefix}callbacks`;
}

/** Submissions, and the wait for their jobs. */
export function channelQueue(prefix: string, channel: string): string {
  return `${prefix}channel-${channel}`;
}

/** The id of a channel holds no colon: no other channel has a queue of this name. */
const pollsEnd = ':polls';

/**
 * What follows a submission that is not attended (any more): polls, the final poll, cancels and the search for lost jobs
 * never wait behind submissions.
 */
export function pollsQueue(prefix: string, channel: string): string {
  return `${channelQueue(prefix, channel)}${pollsEnd}`;
}

export function isPollsQueue(queue: string): boolean {
  return queue.endsWith(pollsEnd);
}

/** The prefix of a workflow's own queue: workflows address the other queues of the same gateway. */
export function prefixOf(tasksQueueName: string): string {
  return tasksQueueName.replace(/tasks$/, '');
}

/** How the summary of a task's own timer begins: it is for people, and not encrypted (payload-codec.ts). */
export const waitSummaryStart = 'Waits: ';

/** A query of Temporal's visibility: the tasks of the gateway with these queues, among others on the same server. */
export function tasksOf(prefix: string): string {
  return `WorkflowType = '${workflowTypes.task}' AND TaskQueue = '${tasksQueue(prefix)}'`;
}
