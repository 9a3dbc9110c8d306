import { UpstreamError } from '../providers/provider.ts';
import type { OperationStatus, ProviderContext, TaskProvider } from '../providers/provider.ts';
import type { RateLimiter } from '../capacity/rate-limiter.ts';
import { createPollPace, type PollPace } from './poll-pace.ts';
import { createQuestions, type PolledJob, type PollQuestions, type Question } from './poll-questions.ts';
import { timeLimit } from '../process/running-time.ts';

/**
 * Asks about many jobs of one credential, subject to its rate limit. If the upstream supports lists, one request covers
 * many jobs, and at most two requests are sent per second. Each process has one poller per credential.
 *
 * An error that does not come from a single job concerns the whole credential. The poller then sends one question at a
 * time to find out whether the upstream is back. If that question fails, all waiting questions fail with it.
 */
export interface StatusPoller {
  /**
   * Rejects with UpstreamError if the upstream reported no state for this job, and with CredentialFailure if it does
   * not respond to this credential at all.
   */
  status(job: PolledJob, signal: AbortSignal): Promise<OperationStatus>;
  lists(): boolean;
}

/** The upstream does not respond to this credential. The poller probes it, so callers need not back off. */
export class CredentialFailure extends Error {
  readonly reason: UpstreamError;

  constructor(reason: UpstreamError) {
    super(reason.message, { cause: reason });
    this.name = 'CredentialFailure';
    this.reason = reason;
  }
}

export interface StatusPollerOptions {
  /** The adapter at the time of the request. A configuration change can replace it. */
  readonly provider: () => Pick<TaskProvider<never>, 'status' | 'list' | 'listMax'>;
  readonly context: (model: string, signal: AbortSignal) => ProviderContext;
  readonly limiter: RateLimiter;
  readonly timeoutMs: () => number;
  /** A clock in milliseconds that cannot be set. */
  readonly monotonic: () => number;
}

/** Polls that arrive within this time share a request. */
const gatherMs = 50;
/** The pace is checked again after at most this time, because an outage may end while the poller waits. */
const restMaxMs = 500;
const throttledPauseMs = 2_000;
const listMaxDefault = 100;
const suspectsMax = 1_000;

export function createStatusPoller(options: StatusPollerOptions): StatusPoller {
  const hasList = (): boolean => options.provider().list !== undefined;
  const listMax = (): number => options.provider().listMax ?? listMaxDefault;
  const questions = createQuestions(listMax, () => void drain());
  const pace = createPollPace(hasList, options.monotonic);
  const send = createSender(options, pace, questions);
  let draining = false;

  async function drain(): Promise<void> {
    if (draining) return;
    draining = true;
    await rest(hasList() ? gatherMs : 0);
    while (questions.size() > 0) {
      const waitMs = pace.dueInMs(questions.hasLone());
      if (waitMs > 0) {
        await rest(Math.min(waitMs, restMaxMs));
        continue;
      }
      await options.limiter.take();
      if (questions.size() === 0) break;
      // Several requests may be in flight at once. The limiter sets the pace, not the slowest response.
      void send(pace.begins(questions.hasLone()) ? questions.takeMany() : questions.takeOne());
    }
    draining = false;
  }

  return { lists: pace.canList, status: questions.ask };
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

/** Never rejects: every question succeeds, fails or goes back to the queue. */
function createSender(options: StatusPollerOptions, pace: PollPace, questions: PollQuestions) {
  const { limiter } = options;
  /**
   * Jobs whose failure was attributed to the credential. If such a job fails again while others do not, the job itself
   * is at fault.
   */
  const suspects = new Set<string>();

  return async (batch: readonly Question[]): Promise<void> => {
    try {
      answer(batch, await request(batch));
    } catch (error) {
      if (error instanceof UpstreamError) fail(batch, error);
      else failEach(batch, error);
    }
  };

  async function request(batch: readonly Question[]): Promise<ReadonlyMap<string, OperationStatus>> {
    const provider = options.provider();
    const context = (model: string) => options.context(model, timeLimit(options.timeoutMs()));
    // The jobs of a list may belong to different models, so do not specify one.
    const operations = batch.map(({ operation }) => operation);
    if (provider.list !== undefined && batch.length > 1) return provider.list(operations, context(''));
    const statuses = new Map<string, OperationStatus>();
    for (const { operation, model } of batch)
      statuses.set(operation.id, await provider.status(operation, context(model)));
    return statuses;
  }

  function answer(batch: readonly Question[], statuses: ReadonlyMap<string, OperationStatus>): void {
    answered(statuses.keys());
    for (const question of batch) {
      const status = statuses.get(question.operation.id);
      if (status !== undefined) question.answer(status);
      else {
        question.alone = true;
        questions.add(question);
      }
    }
  }

  function answered(ids: Iterable<string>): void {
    for (const id of ids) suspects.delete(id);
    pace.answered();
  }

  function fail(batch: readonly Question[], error: UpstreamError): void {
    const ids = batch.map(({ operation }) => operation.id);
    const isList = batch.length > 1;
    if (isList && error.status !== undefined) pace.listFailed();
    // A key without permission to list, or a relay without that route, can still query each job individually.
    if (isList && isRefusedList(error)) return questions.add(...batch);
    const isOwn = !isShared(error);
    if (isOwn) answered(ids);
    const isKnownSuspect = !isList && !pace.isDown() && ids.every((id) => suspects.has(id));
    if (isOwn || isKnownSuspect) return failEach(batch, error);
    if (!isList && suspects.size < suspectsMax) for (const id of ids) suspects.add(id);
    if (error.outcome === 'throttled') limiter.pause(error.retryAfterMs ?? throttledPauseMs);
    pace.failed();
    failEach([...batch, ...questions.takeAll()], new CredentialFailure(error));
  }
}

function failEach(batch: readonly Question[], error: unknown): void {
  for (const question of batch) question.fail(error);
}

/**
 * True if the upstream rejected the list request itself, so that the jobs can still be polled one by one. If it is down
 * or throttles us, polling one by one would not help either.
 */
function isRefusedList({ status, outcome }: UpstreamError): boolean {
  return status !== undefined && status < 500 && outcome !== 'throttled';
}

const sharedStatuses = new Set([401, 402, 403, 408, 429]);

/** True if the failure says nothing about the job. It is then attributed to the credential. */
function isShared({ status, gone, outcome }: UpstreamError): boolean {
  if (gone) return false;
  if (outcome === 'throttled' || outcome === 'unavailable') return true;
  return status === undefined || status >= 500 || sharedStatuses.has(status);
}
