/**
 * How many polls of a worker wait for tasks of one queue. Not as many as the server asks for: the SDK then ends each of
 * them after 11 s instead of a minute, and what a busy server hands out in that moment is lost until it times out
 * (docs/decisions/0007-steps-on-temporal.md).
 */
export const taskPollers = { type: 'simple-maximum', maximum: 10 } as const;
