import { UpstreamError } from '../src/providers/provider.ts';
import type { Operation, OperationStatus, ProviderContext, TaskProvider } from '../src/providers/provider.ts';
import type { RateLimiter } from '../src/capacity/rate-limiter.ts';

/**
 * Asks one upstream account about many operations: rate-limited, and, where the upstream can list, many operations
 * in one request. One per credential and process; holds only the questions that are open.
 */
export interface StatusPoller {
  /** Rejects with UpstreamError if the upstream did not report a state. */
  status(job: PolledJob, signal: AbortSignal): Promise<OperationStatus>;
}

/** `model` as our callers name it: its mapping says how the answer is read. */
export interface PolledJob {
  readonly operation: Operation;
  readonly model: string;
}

export interface StatusPollerOptions {
  readonly provider: Pick<TaskProvider<never>, 'status' | 'list' | 'listMax'>;
  readonly context: (model: string, signal: AbortSignal) => ProviderContext;
  readonly limiter: RateLimiter;
  readonly timeoutMs: number;
}

interface Question extends PolledJob {
  /** The asking activity's signal: an aborted question is not asked again. */
  readonly signal: AbortSignal;
  readonly answer: (status: OperationStatus) => void;
  readonly fail: (error: unknown) => void;
  /** A list did not contain it: it is polled individually, under the same limit as every other request. */
  alone: boolean;
}

/** Polls that arrive within this time share a request. */
const gatherMs = 50;
const throttledPauseMs = 2_000;

export function createStatusPoller(options: StatusPollerOptions): StatusPoller {
  const { provider, limiter } = options;
  const batchMax = provider.list === undefined ? 1 : (provider.listMax ?? 100);
  let waiting: Question[] = [];
  let draining = false;

  async function drain(): Promise<void> {
    await delay(batchMax === 1 ? 0 : gatherMs);
    while (waiting.length > 0) {
      await limiter.take(new AbortController().signal);
      const batch = nextBatch(waiting, batchMax);
      waiting = waiting.filter((question) => !batch.includes(question));
      // Several requests may be in flight at once: the limiter, not the slowest response, sets the pace.
      void ask(batch, options).then(enqueue);
    }
    draining = false;
  }

  function enqueue(questions: readonly Question[]): void {
    waiting.push(...questions.filter(({ signal }) => !signal.aborted));
    if (draining || waiting.length === 0) return;
    draining = true;
    void drain();
  }

  return {
    status: ({ operation, model }, signal) =>
      new Promise((resolve, reject) => {
        const onAbort = (): void => {
          waiting = waiting.filter((entry) => entry !== question);
          reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
        };
        const question: Question = {
          operation,
          model,
          signal,
          alone: false,
          answer: (status) => {
            signal.removeEventListener('abort', onAbort);
            resolve(status);
          },
          fail: (error) => {
            signal.removeEventListener('abort', onAbort);
            reject(error instanceof Error ? error : new Error(String(error)));
          },
        };
        signal.addEventListener('abort', onAbort, { once: true });
        enqueue([question]);
      }),
  };
}

/** As many as fit into one request; a question that is to be asked alone is a request of its own. */
function nextBatch(waiting: readonly Question[], batchMax: number): readonly Question[] {
  const [first] = waiting;
  if (first === undefined || first.alone) return waiting.slice(0, 1);
  return waiting.filter(({ alone }) => !alone).slice(0, batchMax);
}

/** Returns what must be asked again, alone. */
async function ask(batch: readonly Question[], options: StatusPollerOptions): Promise<readonly Question[]> {
  const [first] = batch;
  if (first === undefined) return [];
  const { list } = options.provider;
  const isAlone = list === undefined || batch.length === 1;
  try {
    if (isAlone) {
      const context = options.context(first.model, AbortSignal.timeout(options.timeoutMs));
      first.answer(await options.provider.status(first.operation, context));
      return [];
    }
    // Its operations may be of several models, so that none is named.
    const context = options.context('', AbortSignal.timeout(options.timeoutMs));
    const operations = batch.map(({ operation }) => operation);
    const listed = await list(operations, context);
    return batch.filter((question) => {
      const status = listed.get(question.operation.id);
      if (status !== undefined) question.answer(status);
      else question.alone = true;
      return status === undefined;
    });
  } catch (error) {
    const isThrottled = error instanceof UpstreamError && error.outcome === 'throttled';
    if (isThrottled) options.limiter.pause(error.retryAfterMs ?? throttledPauseMs);
    if (!isAlone && !isThrottled && isAnswered(error)) {
      for (const question of batch) question.alone = true;
      return batch;
    }
    for (const question of batch) question.fail(error);
    return [];
  }
}

/**
 * The upstream answered, and not with a list that can be read: a key without the right to list, or a relay without the
 * route, still reports each job. Without an answer at all, more questions would only wait longer.
 */
function isAnswered(error: unknown): boolean {
  return error instanceof UpstreamError && error.status !== undefined;
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
