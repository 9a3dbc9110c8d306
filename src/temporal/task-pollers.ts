import { pollsPerQueue } from './poller-budget.ts';

/**
 * How many polls of a worker wait for tasks of one queue. Not as many as the server asks for: the SDK then ends each of
 * them after 11 s instead of a minute, and what a busy server hands out in that moment is lost until it times out
 * (docs/decisions/0007-steps-on-temporal.md).
 */
export const taskPollers = pollersUpTo(10);

/** Of the queues of all channels, which share a budget: queues that a reload brings get what is left of it. */
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
