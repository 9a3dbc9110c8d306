import { pollsPerQueue } from './poller-budget.ts';

/**
 * A worker's polls on one task queue. The limit is lower than the server suggests. If there were more polls, the SDK
 * would end each poll after 11 s instead of a minute, and tasks that a busy server hands out at that moment are lost
 * until they time out (docs/decisions/0007-steps-on-temporal.md).
 */
export const taskPollers = pollersUpTo(10);

/** Divides one budget of polls among all channel queues. Queues added by a reload share what is left. */
export function shareChannelPollers() {
  let open = 0;
  return (queues: number) => {
    const polls = pollsPerQueue(queues, open);
    open += queues * polls;
    return pollersUpTo(polls);
  };
}

function pollersUpTo(maximum: number) {
  return { type: 'simple-maximum', maximum } as const;
}
