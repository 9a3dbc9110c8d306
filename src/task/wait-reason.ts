/** What keeps a task from its next step although nobody has to decide anything; attention.ts has the rest. */
export const waitReasons = ['slot', 'upstream', 'turn', 'lookup'] as const;
export type WaitReason = (typeof waitReasons)[number];

/** What GET says in `message` of an unfinished task that waits. */
export const waitMessages: Readonly<Record<WaitReason, string>> = {
  slot: 'The task waits for its turn: the limit of concurrent tasks has been reached.',
  upstream: 'No upstream accepts the task at the moment; it is offered again until one does.',
  turn: 'The task waits for its turn: tasks are submitted at a limited rate.',
  lookup: 'The response to the submission was lost; the upstream is being asked whether it has the task.',
};

/**
 * Why nothing happens to a task although it could: somebody has paused it in Temporal, or nobody has taken its next step
 * for longer than a worker needs.
 */
export type Stall = 'paused' | 'no_worker';
