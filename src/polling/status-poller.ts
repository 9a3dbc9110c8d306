import { UpstreamError } from '../providers/provider.ts';
import type { OperationStatus, ProviderContext, TaskProvider } from '../providers/provider.ts';
import type { RateLimiter } from '../capacity/rate-limiter.ts';
import { createPollPace, type PollPace } from './poll-pace.ts';
import { createQuestions, type PolledJob, type PollQuestions, type Question } from './poll-questions.ts';
import { timeLimit } from '../process/running-time.ts';

/**
 * Asks about many operations on behalf of one upstream account, subject to a rate limit. If the upstream supports
 * lists, one request covers many operations, and at most two requests are sent per second regardless of the number in
 * flight. Each process has one poller per credential, which holds only the open questions.
 *
 * Errors belong to the credential. After an error that is not the job's own, one question at a time probes whether the
 * upstream is back. If the probe fails, all waiting questions fail with it. If it succeeds, all of them proceed.
 */
export interface StatusPoller {
  /**
   * Rejects with UpstreamError if the upstream did not report this job's state, and with CredentialFailure if the
   * upstream currently does not respond to this credential at all.
   */
  status(job: PolledJob, signal: AbortSignal): Promise<OperationStatus>;
  /** Whether a single request can currently cover all jobs. */
  lists(): boolean;
}

/**
 * The upstream does not respond to this credential. Further questions wait for a probe, so callers need not back off.
 */
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
/** The longest wait before the pace is checked again, because an outage may have ended in the meantime. */
const restMaxMs = 500;
const throttledPauseMs = 2_000;
const listMaxDefault = 100;
/** The maximum number of suspects that are remembered. */
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
      // Multiple requests may be in flight at once. The limiter sets the pace, not the slowest response.
      void send(pace.begins(questions.hasLone()) ? questions.takeMany() : questions.takeOne());
    }
    draining = false;
  }

  return { lists: pace.canList, status: questions.ask };
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

/**
 * Sends one request, for a single job or as a list. Never rejects: every question succeeds, fails or returns to the
 * queue.
 */
function createSender(options: StatusPollerOptions, pace: PollPace, questions: PollQuestions) {
  const { limiter } = options;
  /**
   * The ids of jobs whose failure was attributed to the credential. If such a job fails again while others do not, the
   * job itself is at fault.
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
    // A list's operations may belong to different models, so do not specify a model.
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
 * Whether the upstream refused to list jobs. A failure of the upstream itself, or throttling, affects all questions
 * instead.
 */
function isRefusedList({ status, outcome }: UpstreamError): boolean {
  return status !== undefined && status < 500 && outcome !== 'throttled';
}

const sharedStatuses = new Set([401, 402, 403, 408, 429]);

/** Whether the failure says nothing about the job in question, so that it is attributed to the credential. */
function isShared({ status, gone, outcome }: UpstreamError): boolean {
  if (gone) return false;
  if (outcome === 'throttled' || outcome === 'unavailable') return true;
  return status === undefined || status >= 500 || sharedStatuses.has(status);
}
