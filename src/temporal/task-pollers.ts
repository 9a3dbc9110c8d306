import { pollsPerQueue } from './poller-budget.ts';

/**
 * Fewer than the server suggests. With more, the SDK would end each poll after 11 s instead of a minute. A task that a
 * busy server hands out at that moment is lost until it times out (docs/decisions/0007-steps-on-temporal.md).
 */
export const taskPollers = pollersUpTo(10);

/** All channel queues share one budget of polls. Queues added by a reload get what is left. */
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
