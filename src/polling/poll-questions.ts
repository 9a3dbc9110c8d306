import type { OperationStatus } from '../providers/provider.ts';
import type { WatchedJob } from '../task/watched-job.ts';

/** `model` is the name that our callers use. Its mapping determines how the response is read. */
export type PolledJob = Pick<WatchedJob, 'task' | 'account' | 'operation' | 'model'>;

export interface Question extends PolledJob {
  /** Once this signal aborts, the question is not asked again. */
  readonly signal: AbortSignal;
  readonly answer: (status: OperationStatus) => void;
  readonly fail: (error: unknown) => void;
  /** True if the job was missing from a list. It is then polled individually, under the same rate limit. */
  alone: boolean;
}

export type PollQuestions = ReturnType<typeof createQuestions>;

/**
 * Limits the total length of the ids in one list. They are part of the request's URL, and servers accept about 8 KB.
 */
const idCharactersMax = 6_000;
/** Extra characters that each id needs in the query. */
const idOverhead = 18;

/**
 * Accounts take turns, and each account's questions are asked in order. `onWaiting` is called whenever a question is
 * added.
 */
export function createQuestions(listMax: () => number, onWaiting: () => void) {
  const [lone, listed] = [createAccountTurns(), createAccountTurns()];
  const turnsOf = ({ alone }: Question) => (alone ? lone : listed);
  const size = (): number => lone.size() + listed.size();

  /** If the signal aborts, withdraws the question and rejects. */
  async function ask(job: PolledJob, signal: AbortSignal): Promise<OperationStatus> {
    // An aborted signal fires no further event, so nothing would reject the promise later.
    if (signal.aborted) throw reasonOf(signal);
    let stopListening = (): void => undefined;
    const answer = new Promise<OperationStatus>((resolve, reject) => {
      const question: Question = { ...job, signal, alone: false, answer: resolve, fail: reject };
      const onAbort = (): void => {
        turnsOf(question).remove(question);
        reject(reasonOf(signal));
      };
      signal.addEventListener('abort', onAbort, { once: true });
      stopListening = () => signal.removeEventListener('abort', onAbort);
      add(question);
    });
    return answer.finally(() => stopListening());
  }

  function add(...questions: readonly Question[]): void {
    for (const question of questions) if (!question.signal.aborted) turnsOf(question).add(question);
    if (size() > 0) onWaiting();
  }

  return {
    ask,
    add,
    size,
    hasLone: (): boolean => lone.size() > 0,
    takeAll: () => [lone, listed].flatMap((turns) => turns.take(() => true)),

    takeOne: (): readonly Question[] => {
      const isFirst = (_: Question, taken: number): boolean => taken === 0;
      return lone.size() > 0 ? lone.take(isFirst) : listed.take(isFirst);
    },

    /** Takes as many questions as fit into one list, except those that must be asked individually. */
    takeMany: (): readonly Question[] => {
      let characters = 0;
      return listed.take(({ operation }, taken) => {
        characters += operation.id.length + idOverhead;
        return taken === 0 || (taken < listMax() && characters <= idCharactersMax);
      });
    },
  };
}

function createAccountTurns() {
  /** Ordered so that the account whose turn is next comes first. */
  const accounts = new Map<string, Set<Question>>();
  let count = 0;

  function remove(question: Question): void {
    const own = accounts.get(question.account);
    if (own?.delete(question) !== true) return;
    count -= 1;
    if (own.size === 0) accounts.delete(question.account);
  }

  function next(): Question | undefined {
    for (const own of accounts.values()) for (const question of own) return question;
    return undefined;
  }

  function moveToEnd(account: string): void {
    const own = accounts.get(account);
    if (own !== undefined && accounts.delete(account)) accounts.set(account, own);
  }

  return {
    remove,
    size: () => count,

    add(question: Question): void {
      const own = accounts.get(question.account) ?? new Set();
      accounts.set(question.account, own);
      if (!own.has(question)) count += 1;
      own.add(question);
    },

    /** Removes and returns questions until `isWanted` returns false. `taken` is the number taken so far. */
    take(isWanted: (question: Question, taken: number) => boolean): Question[] {
      const chosen: Question[] = [];
      for (let first = next(); first !== undefined; first = next()) {
        if (!isWanted(first, chosen.length)) break;
        remove(first);
        moveToEnd(first.account);
        chosen.push(first);
      }
      return chosen;
    },
  };
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error('aborted');
}
