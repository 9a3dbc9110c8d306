import { z } from 'zod';
import { defined } from '../base/defined.ts';
import type { Changes } from '../task/next.ts';
import type { Task } from '../task/record.ts';
import { toSealed, toSealedDocument } from './sealed-document.ts';
import type { SealedDocument, Sealing } from './sealed-document.ts';
import { toDocument, toTask, updateOf } from './task-document.ts';
import type { TaskDocument } from './task-document.ts';

/**
 * Tasks as MongoDB holds them: what upstreams said of their failures may be what a caller wrote, and is one sealed value
 * beside the record. Codes and classes stay legible: operators list tasks by them.
 */
export interface TaskForm {
  readonly toDocument: (task: Task) => TaskDocument;
  readonly toTask: (document: TaskDocument) => Task;
  readonly updateOf: (before: Task, changes: Changes) => ReturnType<typeof updateOf>;
}

const purpose = 'upstream-words';

export function createTaskForm({ seal, open }: Sealing): TaskForm {
  const sealed = (words: string | undefined): SealedDocument | undefined =>
    words === undefined ? undefined : toSealedDocument(seal(purpose, words));

  return {
    toDocument: (task) => ({
      ...toDocument(saying(task, noWords)),
      ...defined({ words: sealed(wordsOf(task)) }),
    }),

    toTask(document) {
      const { words } = document;
      const task = toTask(document);
      return words === undefined ? task : saying(task, read(words));
    },

    updateOf(before, changes) {
      const isAboutThem = 'attempts' in changes || 'outcome' in changes || 'error' in changes;
      if (!isAboutThem) return updateOf(before, changes);
      const words = wordsOf({ ...before, ...changes });
      const hasSome = words !== undefined || wordsOf(before) !== undefined;
      return updateOf(before, { ...saying(changes, noWords), ...(hasSome ? { words: sealed(words) } : {}) });
    },
  };

  /** Whoever cannot read them reads the rest of the task: its key may be missing only here, and not for long. */
  function read(words: SealedDocument): Words {
    try {
      return wordsSchema.parse(JSON.parse(open(purpose, toSealed(words))));
    } catch {
      return { outcome: unreadable, error: unreadable, attempts: {} };
    }
  }
}

const unreadable = 'What the upstream said cannot be read: SECRETS_KEY lacks its key.';

const wordsSchema = z.object({
  outcome: z.string().optional(),
  error: z.string().optional(),
  /** By their numbers. */
  attempts: z.record(z.string(), z.string()),
});
type Words = z.output<typeof wordsSchema>;

type Said = { readonly [Name in 'attempts' | 'outcome' | 'error']?: Task[Name] | undefined };

/** JSON; undefined: nobody has said anything. */
function wordsOf({ attempts = [], outcome, error }: Said): string | undefined {
  const said = attempts.flatMap(({ n, message }): [string, string][] =>
    message === undefined ? [] : [[`${n}`, message]],
  );
  const ends = defined({
    outcome: outcome?.kind === 'failed' ? outcome.message : undefined,
    error: error?.message,
  });
  if (said.length === 0 && Object.keys(ends).length === 0) return undefined;
  return JSON.stringify({ ...ends, attempts: Object.fromEntries(said) } satisfies Words);
}

const noWords: Words = { attempts: {} };

/** With these words in place of its own. */
function saying<Part extends Said>(part: Part, words: Words): Part {
  const { attempts, outcome, error } = part;
  return {
    ...part,
    ...defined({
      attempts: attempts?.map(({ message: _message, ...attempt }) => ({
        ...attempt,
        ...defined({ message: words.attempts[attempt.n] }),
      })),
      outcome: outcome?.kind === 'failed' ? { ...outcome, message: words.outcome ?? '' } : outcome,
      error: error === undefined ? undefined : { ...error, message: words.error ?? '' },
    }),
  };
}
