import type { OperationStatus } from '../src/providers/provider.ts';
import type { WatchedJob } from './task-view.ts';

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

/** Of the ids of one list: they stand in the address of the request, and 8 KB is what servers accept. */
const idCharactersMax = 6_000;
/** What a query needs beside each id. */
const idOverhead = 18;

/** The open questions of one credential, first come, first served: whoever was asked about queues up again. */
export function createQuestions(listMax: number) {
  const waiting = new Set<Question>();

  function take(chosen: readonly Question[]): readonly Question[] {
    for (const question of chosen) waiting.delete(question);
    return chosen;
  }

  function firstLone(): Question | undefined {
    for (const question of waiting) if (question.alone) return question;
    return undefined;
  }

  return {
    size: (): number => waiting.size,
    add(questions: readonly Question[]): void {
      for (const question of questions) if (!question.signal.aborted) waiting.add(question);
    },
    remove: (question: Question): void => void waiting.delete(question),
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
