import { z } from 'zod';
import { defined } from '../base/defined.ts';
import { pollConcerns } from '../task/attention.ts';
import type { OperationStatus, UpstreamError } from '../providers/provider.ts';

/** Each attempt passes this state to the next one in its heartbeat details. Operators see it in the Temporal UI. */
const memorySchema = z.object({
  polls: z.number(),
  errors: z.number(),
  gone: z.number(),
  phase: z.enum(['submitted', 'running']),
  /** Percent (0-100), if the upstream reports progress. */
  progress: z.number().optional(),
  queuePosition: z.number().optional(),
  progressAt: z.number().optional(),
  /** Temporal stores this text, so it must not contain the upstream's message, which may quote the caller. */
  lastError: z.string().optional(),
  /** Whether the last poll was refused for a reason that affects the whole channel: its key, balance or permissions. */
  isRefused: z.boolean().optional(),
  /**
   * True if the last error concerned the whole credential. The credential's poller then decides when the upstream is
   * back.
   */
  isShared: z.boolean().optional(),
  failingSince: z.number().optional(),
  lastAt: z.number().optional(),
  concern: z.enum(pollConcerns).optional(),
  retryAfterMs: z.number().optional(),
  /** How old the activity was when the upstream accepted the job. Undefined if the job is older than the activity. */
  acceptedAfterMs: z.number().optional(),
});
export type PollMemory = z.infer<typeof memorySchema>;

const newMemory: PollMemory = { polls: 0, errors: 0, gone: 0, phase: 'submitted' };

/** Starts from scratch if the details come from another activity. */
export function rememberedPolls(details: unknown): PollMemory {
  return memorySchema.safeParse(details).data ?? newMemory;
}

export function newPolls(acceptedAfterMs: number): PollMemory {
  return acceptedAfterMs < turnMinMs ? newMemory : { ...newMemory, acceptedAfterMs };
}

/** If a submission waited longer than this, the wait is recorded so that it is not mistaken for render time. */
const turnMinMs = 5_000;

/**
 * Returns undefined if the next attempt would start with the same values. This saves a heartbeat, which is a write on
 * the server.
 */
export function worthKeeping(memory: PollMemory): PollMemory | undefined {
  return memory === newMemory ? undefined : memory;
}

export type Pending = Extract<OperationStatus, { state: 'pending' }>;

/** The phase never moves backwards, even if the upstream reports an earlier one. */
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

export function progressOf({ phase, polls, errors, lastError }: PollMemory): string {
  const failing = errors === 0 ? '' : `, the last ${errors} failed (${lastError ?? 'unknown'})`;
  return `${phase}, ${polls} poll${polls === 1 ? '' : 's'}${failing}`;
}
