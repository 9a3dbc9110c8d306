import { UpstreamError } from '../src/providers/provider.ts';
import type { Operation, OperationStatus, ProviderContext, TaskProvider } from '../src/providers/provider.ts';
import type { RateLimiter } from '../src/capacity/rate-limiter.ts';

/**
 * Asks one upstream account about many operations: rate-limited, and, where the upstream can list, many operations
 * in one request. One per credential and process; holds only the questions that are open.
 */
export interface StatusPoller {
  /** Rejects with UpstreamError if the upstream did not report a state. */
  status(operation: Operation, signal: AbortSignal): Promise<OperationStatus>;
}

export interface StatusPollerOptions {
  readonly provider: Pick<TaskProvider<never>, 'status' | 'list' | 'listMax'>;
  readonly context: (signal: AbortSignal) => ProviderContext;
  readonly limiter: RateLimiter;
  readonly timeoutMs: number;
}

interface Question {
  readonly operation: Operation;
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
    status: (operation, signal) =>
      new Promise((resolve, reject) => {
        const onAbort = (): void => {
          waiting = waiting.filter((entry) => entry !== question);
          reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
        };
        const question: Question = {
          operation,
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
  try {
    const context = options.context(AbortSignal.timeout(options.timeoutMs));
    if (batch.length === 1 || options.provider.list === undefined) {
      first.answer(await options.provider.status(first.operation, context));
      return [];
    }
    const listed = await options.provider.list(
      batch.map(({ operation }) => operation),
      context,
    );
    return batch.filter((question) => {
      const status = listed.get(question.operation.id);
      if (status !== undefined) question.answer(status);
      else question.alone = true;
      return status === undefined;
    });
  } catch (error) {
    if (error instanceof UpstreamError && error.outcome === 'throttled') {
      options.limiter.pause(error.retryAfterMs ?? throttledPauseMs);
    }
    for (const question of batch) question.fail(error);
    return [];
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
