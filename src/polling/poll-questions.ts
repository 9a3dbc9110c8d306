import type { OperationStatus } from '../providers/provider.ts';
import type { WatchedJob } from '../task/watched-job.ts';

/** `model` as our callers name it: its mapping says how the answer is read. */
export type PolledJob = Pick<WatchedJob, 'task' | 'operation' | 'model'>;

export interface Question extends PolledJob {
  /** The asking activity's signal: an aborted question is not asked again. */
  readonly signal: AbortSignal;
  readonly answer: (status: OperationStatus) => void;
  readonly fail: (error: unknown) => void;
  /** A list did not contain it: it is polled individually, under the same limit as every other request. */
  alone: boolean;
}

export type PollQuestions = ReturnType<typeof createQuestions>;

/** Of the ids of one list: they stand in the address of the request, and 8 KB is what servers accept. */
const idCharactersMax = 6_000;
/** What a query needs beside each id. */
const idOverhead = 18;

/** The open questions of one credential, first come, first served. `onWaiting`: one was added. */
export function createQuestions(listMax: number, onWaiting: () => void) {
  const waiting = new Set<Question>();

  /** Rejects when the signal aborts: then the question is not asked any more. */
  async function ask(job: PolledJob, signal: AbortSignal): Promise<OperationStatus> {
    // Its event has passed, and nobody would ask.
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
    /** Whoever was asked about queues up again. */
    add,
    size: (): number => waiting.size,
    hasLone: (): boolean => firstLone() !== undefined,
    takeAll: () => take([...waiting]),

    /** For a request about one job. */
    takeOne: (): readonly Question[] => {
      const [first] = waiting;
      const chosen = firstLone() ?? first;
      return chosen === undefined ? [] : take([chosen]);
    },

    /** As many as fit into one list. */
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
