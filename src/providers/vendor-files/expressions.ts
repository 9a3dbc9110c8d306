import type { Worker } from 'node:worker_threads';
import { parseJson } from '../../base/parse-json.ts';
import { startThread, startThreadClock, type Thread } from '../../process/thread.ts';

export interface Evaluator {
  evaluate(source: string, input: unknown, bindings?: Bindings): Promise<unknown>;
}

/**
 * Evaluates one vendor file's JSONata in a separate thread, which is terminated if an expression exceeds its limits.
 */
export interface Expressions extends Evaluator {
  check(source: string): Promise<void>;
  close(): Promise<void>;
}

export type Bindings = Readonly<Record<string, unknown>>;

/** The expression cannot be evaluated with this input. `reason` must not be logged, because it may quote the input. */
export class ExpressionError extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super('an expression of a vendor file could not be evaluated');
    this.name = 'ExpressionError';
    this.reason = reason;
  }
}

/** The thread did not finish within its limits. This says nothing about the expression or its input. */
export class ExpressionLimitError extends ExpressionError {}

export interface ToThread {
  readonly source: string;
  readonly input?: unknown;
  readonly bindings?: Bindings;
}

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly text?: string }
  | { readonly kind: 'failed'; readonly reason: string };

const workingMsMax = 1_000;
const workingLookMs = 50;
/** Enough for a response of a few megabytes. The thread is terminated if an expression needs more. */
const resourceLimits = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };
/** An idle thread uses about ten megabytes, so it is terminated after this time. */
const idleMs = 60_000;

/** The first evaluation starts the thread. Evaluations run one at a time. */
export function createExpressions(): Expressions {
  let thread: Thread | undefined;
  let idle: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const end = async (): Promise<void> => {
    clearTimeout(idle);
    const ended = thread;
    thread = undefined;
    await ended?.worker.terminate();
  };

  const start = (): Thread => {
    const started = startThread(import.meta.url, 'expression-thread', resourceLimits);
    started.worker.once('exit', () => {
      if (thread === started) thread = undefined;
    });
    return started;
  };

  const answerOf = async (message: ToThread): Promise<Extract<FromThread, { kind: 'done' }>> => {
    clearTimeout(idle);
    thread ??= start();
    const { worker, ready } = thread;
    await ready;
    const answer = await ask(worker, message);
    if (answer === undefined) {
      await end();
      throw new ExpressionLimitError(`it used more than ${workingMsMax} ms of CPU time, or too much memory`);
    }
    idle = setTimeout(() => void end(), idleMs).unref();
    if (answer.kind === 'failed') throw new ExpressionError(answer.reason);
    return answer;
  };

  const inTurn = (message: ToThread) => {
    const answer = last.then(() => answerOf(message));
    last = answer.catch(() => undefined);
    return answer;
  };

  return {
    async evaluate(source, input, bindings = {}) {
      const { text } = await inTurn({ source, input, bindings });
      return text === undefined ? undefined : parseJson(text);
    },
    check: async (source) => void (await inTurn({ source })),
    close: end,
  };
}

function ask(worker: Worker, message: ToThread): Promise<Exclude<FromThread, { kind: 'ready' }> | undefined> {
  return new Promise((resolve) => {
    const stop = (answer?: Exclude<FromThread, { kind: 'ready' }>): void => {
      worker.off('message', hear).off('error', giveUp).off('exit', giveUp);
      clearInterval(watch);
      resolve(answer);
    };
    const giveUp = (): void => stop();
    const hear = (answer: FromThread): void => {
      if (answer.kind !== 'ready') stop(answer);
    };
    if (worker.threadId === -1) return resolve(undefined);
    const workedMs = startThreadClock(worker);
    const watch = setInterval(() => {
      if (workedMs() > workingMsMax) giveUp();
    }, workingLookMs);
    worker.on('message', hear).on('error', giveUp).on('exit', giveUp);
    try {
      worker.postMessage(message);
    } catch {
      stop({ kind: 'failed', reason: 'its input is nested too deeply' });
    }
  });
}
