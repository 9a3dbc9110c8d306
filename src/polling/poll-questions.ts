import type { OperationStatus } from '../providers/provider.ts';
import type { WatchedJob } from '../task/watched-job.ts';

/** `model` is our callers' name for the model, whose mapping determines how the response is read. */
export type PolledJob = Pick<WatchedJob, 'task' | 'operation' | 'model'>;

export interface Question extends PolledJob {
  /** The asking activity's signal. An aborted question is not asked again. */
  readonly signal: AbortSignal;
  readonly answer: (status: OperationStatus) => void;
  readonly fail: (error: unknown) => void;
  /** The job was missing from a list. It is then polled individually, under the same limit as every other request. */
  alone: boolean;
}

export type PollQuestions = ReturnType<typeof createQuestions>;

/** Limits the ids in one list. They are part of the request's address, and servers accept 8 KB. */
const idCharactersMax = 6_000;
/** The characters that a query needs per id in addition to the id itself. */
const idOverhead = 18;

/** A credential's open questions, first come, first served. `onWaiting` is called whenever one is added. */
export function createQuestions(listMax: number, onWaiting: () => void) {
  const waiting = new Set<Question>();

  /** Rejects when the signal aborts, which withdraws the question. */
  async function ask(job: PolledJob, signal: AbortSignal): Promise<OperationStatus> {
    // The signal's event has already fired, so nothing would reject the promise.
    if (signal.aborted) throw reasonOf(signal);
    let stopListening = (): void => undefined;
    const answer = new Promise<OperationStatus>((resolve, reject) => {
      const question: Question = { ...job, signal, alone: false, answer: resolve, fail: reject };
      const onAbort = (): void => {
        waiting.delete(question);
        reject(reasonOf(signal));
      };
      signal.addEventListener('abort', onAbort, { once: true });
      stopListening = () => signal.removeEventListener('abort', onAbort);
      add(question);
    });
    return answer.finally(() => stopListening());
  }

  function add(...questions: readonly Question[]): void {
    for (const question of questions) if (!question.signal.aborted) waiting.add(question);
    if (waiting.size > 0) onWaiting();
  }

  function take(chosen: readonly Question[]): readonly Question[] {
    for (const question of chosen) waiting.delete(question);
    return chosen;
  }

  function firstLone(): Question | undefined {
    for (const question of waiting) if (question.alone) return question;
    return undefined;
  }

  return {
    ask,
    /** Also puts unanswered questions back in the queue. */
    add,
    size: (): number => waiting.size,
    hasLone: (): boolean => firstLone() !== undefined,
    takeAll: () => take([...waiting]),

    takeOne: (): readonly Question[] => {
      const [first] = waiting;
      const chosen = firstLone() ?? first;
      return chosen === undefined ? [] : take([chosen]);
    },

    takeMany: (): readonly Question[] => {
      const chosen: Question[] = [];
      let characters = 0;
      for (const question of waiting) {
        characters += question.operation.id.length + idOverhead;
        if (chosen.length > 0 && (chosen.length >= listMax || characters > idCharactersMax)) break;
        chosen.push(question);
      }
      return take(chosen);
    },
  };
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error('aborted');
}
