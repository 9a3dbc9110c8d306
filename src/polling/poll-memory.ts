import { z } from 'zod';
import { defined } from '../base/defined.ts';
import { pollConcerns } from '../task/poll-concern.ts';
import type { OperationStatus, UpstreamError } from '../providers/provider.ts';

/** What an attempt leaves to the next one, and what operators see in the Temporal UI. */
const memorySchema = z.object({
  polls: z.number(),
  errors: z.number(),
  gone: z.number(),
  phase: z.enum(['submitted', 'running']),
  progress: z.number().optional(),
  queuePosition: z.number().optional(),
  /** When progress was last written to the record. */
  progressAt: z.number().optional(),
  /** Status and code. What the upstream says beside them may be the caller's own words, and this goes into a history. */
  lastError: z.string().optional(),
  isRefused: z.boolean().optional(),
  /** The last error was the credential's. */
  isShared: z.boolean().optional(),
  /** Of the first of the consecutive errors. */
  failingSince: z.number().optional(),
  lastAt: z.number().optional(),
  /** What operators were asked about. */
  concern: z.enum(pollConcerns).optional(),
  retryAfterMs: z.number().optional(),
  /** How long the activity had been under way when the upstream accepted the job; absent: it began after that. */
  acceptedAfterMs: z.number().optional(),
});
export type PollMemory = z.infer<typeof memorySchema>;

const newMemory: PollMemory = { polls: 0, errors: 0, gone: 0, phase: 'submitted' };

/** Details of another activity, or none, are as good as nothing. */
export function rememberedPolls(details: unknown): PollMemory {
  return memorySchema.safeParse(details).data ?? newMemory;
}

/** The memory for a job that this same attempt has just submitted. */
export function newPolls(acceptedAfterMs: number): PollMemory {
  return acceptedAfterMs < turnMinMs ? newMemory : { ...newMemory, acceptedAfterMs };
}

/** A submission's wait for its turn is recorded from here on, so that it does not count as render time. */
const turnMinMs = 5_000;

/** A heartbeat is a write on the server: not for what the next attempt begins with anyway. */
export function worthKeeping(memory: PollMemory): PollMemory | undefined {
  return memory === newMemory ? undefined : memory;
}

export type Pending = Extract<OperationStatus, { state: 'pending' }>;

/** After an answer. A status that goes backwards leaves ours where it is. */
export function afterPending(memory: PollMemory, { phase, progress, queuePosition }: Pending, now: number) {
  const { concern, progressAt, acceptedAfterMs } = memory;
  return {
    polls: memory.polls + 1,
    errors: 0,
    gone: 0,
    phase: memory.phase === 'running' ? memory.phase : phase,
    lastAt: now,
    ...defined({ progress, queuePosition, concern, progressAt, acceptedAfterMs }),
  } satisfies PollMemory;
}

export interface FailedPoll {
  readonly error: UpstreamError;
  readonly isShared: boolean;
  readonly now: number;
}

export function afterFailure(memory: PollMemory, { error, isShared, now }: FailedPoll): PollMemory {
  const { retryAfterMs: _old, ...known } = memory;
  return {
    ...known,
    polls: memory.polls + 1,
    errors: memory.errors + 1,
    gone: error.gone ? memory.gone + 1 : 0,
    failingSince: memory.failingSince ?? now,
    lastAt: now,
    lastError: error.status === undefined ? error.code : `${error.status} ${error.code}`,
    isRefused: error.outcome === 'unavailable' || refusedStatuses.has(error.status ?? 0),
    isShared,
    ...defined({ retryAfterMs: error.retryAfterMs }),
  };
}

const refusedStatuses = new Set([401, 402, 403]);

/** For people: how polling stands. */
export function progressOf({ phase, polls, errors, lastError }: PollMemory): string {
  const failing = errors === 0 ? '' : `, the last ${errors} failed (${lastError ?? 'unknown'})`;
  return `${phase}, ${polls} poll${polls === 1 ? '' : 's'}${failing}`;
}
