import { UpstreamError } from '../providers/provider.ts';
import type { OperationStatus, ProviderContext, TaskProvider } from '../providers/provider.ts';
import type { RateLimiter } from '../capacity/rate-limiter.ts';
import { createPollPace } from './poll-pace.ts';
import type { PollPace } from './poll-pace.ts';
import { createQuestions } from './poll-questions.ts';
import type { PolledJob, PollQuestions, Question } from './poll-questions.ts';

/**
 * Asks one upstream account about many operations: rate-limited, and, where the upstream can list, many operations
 * in one request, at most two a second whatever is in flight. One per credential and process; holds only the questions
 * that are open.
 *
 * Errors belong to the credential. After one that is not the job's, a single question at a time finds out whether the
 * upstream is back; its failure is the answer to everybody who waits, and its success lets all questions through.
 */
export interface StatusPoller {
  /**
   * Rejects with UpstreamError if the upstream did not report the state of this job, with CredentialFailure if it
   * answers no question at the moment.
   */
  status(job: PolledJob, signal: AbortSignal): Promise<OperationStatus>;
  /** One request asks about all jobs, at the moment. */
  lists(): boolean;
}

/** The upstream does not answer this credential: asking again waits for a probe, so that nobody need back off. */
export class CredentialFailure extends Error {
  readonly reason: UpstreamError;

  constructor(reason: UpstreamError) {
    super(reason.message, { cause: reason });
    this.name = 'CredentialFailure';
    this.reason = reason;
  }
}

export interface StatusPollerOptions {
  readonly provider: Pick<TaskProvider<never>, 'status' | 'list' | 'listMax'>;
  readonly context: (model: string, signal: AbortSignal) => ProviderContext;
  readonly limiter: RateLimiter;
  readonly timeoutMs: () => number;
  readonly now: () => number;
}

/** Polls that arrive within this time share a request. */
const gatherMs = 50;
/** The longest rest before the pace is looked at again: an outage may have ended meanwhile. */
const restMaxMs = 500;
const throttledPauseMs = 2_000;
const listMaxDefault = 100;
/** Jobs whose question failed while others were answered. */
const suspectsMax = 1_000;

export function createStatusPoller(options: StatusPollerOptions): StatusPoller {
  const { list, listMax = listMaxDefault } = options.provider;
  const questions = createQuestions(listMax, () => void drain());
  const pace = createPollPace(list !== undefined, options.now);
  const send = createSender({ options, pace, questions });
  let draining = false;

  async function drain(): Promise<void> {
    if (draining) return;
    draining = true;
    await rest(list === undefined ? 0 : gatherMs);
    while (questions.size() > 0) {
      const waitMs = pace.dueInMs(questions.hasLone());
      if (waitMs > 0) {
        await rest(Math.min(waitMs, restMaxMs));
        continue;
      }
      await options.limiter.take();
      if (questions.size() === 0) break;
      // Several requests may be in flight at once: the limiter, not the slowest response, sets the pace.
      void send(pace.begins(questions.hasLone()) ? questions.takeMany() : questions.takeOne());
    }
    draining = false;
  }

  return { lists: pace.canList, status: questions.ask };
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

interface SenderDeps {
  readonly options: StatusPollerOptions;
  readonly pace: PollPace;
  readonly questions: PollQuestions;
}

/** One request, for one job or as a list. Never rejects: every question is answered, has failed, or waits again. */
function createSender({ options, pace, questions }: SenderDeps) {
  const { provider, limiter } = options;
  /** Ids of jobs whose failure was taken for the credential's. One that fails again while others do not is alone in it. */
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
    const context = (model: string) => options.context(model, AbortSignal.timeout(options.timeoutMs()));
    // The operations of a list may be of several models, so that none is named.
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

  /** The failure is the list's, its job's own, or everybody's who waits. */
  function fail(batch: readonly Question[], error: UpstreamError): void {
    const ids = batch.map(({ operation }) => operation.id);
    const isList = batch.length > 1;
    if (isList && error.status !== undefined) pace.listFailed();
    // A key without the right to list, or a relay without the route, still reports each job.
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

/** The upstream answered, and not with a list. Its own failure, and "not now", concern everybody. */
function isRefusedList({ status, outcome }: UpstreamError): boolean {
  return status !== undefined && status < 500 && outcome !== 'throttled';
}

const sharedStatuses = new Set([401, 402, 403, 408, 429]);

/** Whether the answer, or its absence, says nothing about the job that was asked about. */
function isShared({ status, gone, outcome }: UpstreamError): boolean {
  if (gone) return false;
  if (outcome === 'throttled' || outcome === 'unavailable') return true;
  return status === undefined || status >= 500 || sharedStatuses.has(status);
}
