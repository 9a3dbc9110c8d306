import { UpstreamError } from '../src/providers/provider.ts';
import type { OperationStatus, ProviderContext, TaskProvider } from '../src/providers/provider.ts';
import type { RateLimiter } from '../src/capacity/rate-limiter.ts';
import { createPollPace } from './poll-pace.ts';
import { createQuestions } from './poll-questions.ts';
import type { PolledJob, Question } from './poll-questions.ts';

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
  readonly timeoutMs: number;
  readonly now: () => number;
}

/** Polls that arrive within this time share a request. */
const gatherMs = 50;
const throttledPauseMs = 2_000;
const listMaxDefault = 100;
/** Jobs whose question failed while others were answered. */
const suspectsMax = 1_000;

export function createStatusPoller(options: StatusPollerOptions): StatusPoller {
  const { list, listMax = listMaxDefault } = options.provider;
  const questions = createQuestions(listMax);
  const pace = createPollPace(list !== undefined, options.now);
  const take = { one: questions.takeOne, lone: questions.takeLone, many: questions.takeMany };
  let wake: () => void = () => undefined;
  let draining = false;
  const ask = createAsk({ options, pace, questions, enqueue, wake: () => wake() });

  /** Until then, or until it is ended by `wake`. */
  function rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      wake = resolve;
      setTimeout(resolve, ms);
    });
  }

  async function drain(): Promise<void> {
    await rest(list === undefined ? 0 : gatherMs);
    while (questions.size() > 0) {
      const waitMs = pace.dueInMs(questions.hasLone());
      if (waitMs > 0) {
        await rest(waitMs);
        continue;
      }
      await options.limiter.take();
      if (questions.size() === 0) break;
      // Several requests may be in flight at once: the limiter, not the slowest response, sets the pace.
      void ask(take[pace.take(questions.hasLone())]());
    }
    draining = false;
  }

  function enqueue(added: readonly Question[]): void {
    questions.add(added);
    if (draining || questions.size() === 0) return;
    draining = true;
    void drain();
  }

  return {
    lists: () => pace.canList(),
    status: (job, signal) => answerTo(job, signal, { enqueue, remove: questions.remove }),
  };
}

interface Queue {
  readonly enqueue: (questions: readonly Question[]) => void;
  readonly remove: (question: Question) => void;
}

/** Rejects when the signal aborts: then the question is not asked any more. */
async function answerTo(
  job: PolledJob,
  signal: AbortSignal,
  { enqueue, remove }: Queue,
): Promise<OperationStatus> {
  // Its event has passed, and nobody would ask.
  if (signal.aborted) throw reasonOf(signal);
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      remove(question);
      reject(reasonOf(signal));
    };
    const settle = (): void => signal.removeEventListener('abort', onAbort);
    const question: Question = {
      ...job,
      signal,
      alone: false,
      answer: (status) => {
        settle();
        resolve(status);
      },
      fail: (error) => {
        settle();
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    };
    signal.addEventListener('abort', onAbort, { once: true });
    enqueue([question]);
  });
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error('aborted');
}

interface AskDeps {
  readonly options: StatusPollerOptions;
  readonly pace: ReturnType<typeof createPollPace>;
  readonly questions: ReturnType<typeof createQuestions>;
  readonly enqueue: (questions: readonly Question[]) => void;
  /** Ends the rest between two requests. */
  readonly wake: () => void;
}

/** One request. Never rejects: every question is answered, has failed, or waits again. */
function createAsk({ options, pace, questions, enqueue, wake }: AskDeps) {
  const { provider, limiter } = options;
  /** Ids of jobs whose failure was taken for the credential's. One that fails again while others do not is alone in it. */
  const suspects = new Set<string>();

  function answered(batch: readonly Question[], isList: boolean): void {
    for (const { operation } of batch) suspects.delete(operation.id);
    if (pace.answered(isList)) wake();
  }

  async function askOne(question: Question): Promise<void> {
    const context = options.context(question.model, AbortSignal.timeout(options.timeoutMs));
    try {
      const status = await provider.status(question.operation, context);
      answered([question], false);
      question.answer(status);
    } catch (error) {
      const isAboutJob = error instanceof UpstreamError && !isShared(error);
      if (isAboutJob) answered([question], false);
      else if (pace.isDown() || !suspects.has(question.operation.id)) throw error;
      question.fail(error);
    }
  }

  async function askAll(batch: readonly Question[], list: NonNullable<typeof provider.list>): Promise<void> {
    // Its operations may be of several models, so that none is named.
    const context = options.context('', AbortSignal.timeout(options.timeoutMs));
    const operations = batch.map(({ operation }) => operation);
    const listed = await list(operations, context);
    const isListed = ({ operation }: Question): boolean => listed.has(operation.id);
    answered(batch.filter(isListed), true);
    const missing = batch.filter((question) => {
      const status = listed.get(question.operation.id);
      if (status !== undefined) question.answer(status);
      else question.alone = true;
      return status === undefined;
    });
    enqueue(missing);
  }

  /** The failure is everybody's who waits. */
  function fail(batch: readonly Question[], error: UpstreamError): void {
    const [first] = batch;
    const isList = batch.length > 1;
    if (!isList && first !== undefined && suspects.size < suspectsMax) suspects.add(first.operation.id);
    if (error.outcome === 'throttled') limiter.pause(error.retryAfterMs ?? throttledPauseMs);
    pace.failed(isList && error.status !== undefined);
    const failure = new CredentialFailure(error);
    for (const question of [...batch, ...questions.takeAll()]) question.fail(failure);
  }

  return async (batch: readonly Question[]): Promise<void> => {
    const [first] = batch;
    if (first === undefined) return;
    const { list } = provider;
    const isList = list !== undefined && batch.length > 1;
    try {
      if (isList) await askAll(batch, list);
      else await askOne(first);
    } catch (error) {
      if (error instanceof UpstreamError && isRefusedList(error, isList)) {
        // A key without the right to list, or a relay without the route, still reports each job.
        pace.listRefused();
        enqueue(batch);
      } else if (error instanceof UpstreamError && isShared(error)) fail(batch, error);
      else for (const question of batch) question.fail(error);
    }
  };
}

/** The upstream answered, and not with a list that can be read. Its own failure, and "not now", concern everybody. */
function isRefusedList({ status, outcome }: UpstreamError, isList: boolean): boolean {
  return isList && status !== undefined && status < 500 && outcome !== 'throttled';
}

const sharedStatuses = new Set([401, 402, 403, 408, 429]);

/** Whether the answer, or its absence, says nothing about the job that was asked about. */
function isShared({ status, gone, outcome }: UpstreamError): boolean {
  if (gone) return false;
  if (outcome === 'throttled' || outcome === 'unavailable') return true;
  return status === undefined || status >= 500 || sharedStatuses.has(status);
}
