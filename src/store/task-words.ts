import { defined } from '../base/defined.ts';
import type { Changes } from '../task/next.ts';
import type { Task } from '../task/record.ts';
import type { SaidOfFailure } from '../task/task.ts';
import { toSealed, toSealedDocument } from './sealed-document.ts';
import type { SealedParts, Sealing } from './sealed-document.ts';
import { toDocument, toTask, updateOf } from './task-document.ts';
import { createTaskLinks, unlinked } from './task-links.ts';
import type { TaskDocument } from './task-document.ts';

/**
 * Converts tasks to and from the form in which MongoDB holds them. Links to results are sealed by task-links.ts.
 * Failure messages of upstreams may quote what a caller wrote, so each one is sealed separately, beside the record. A
 * change writes only the messages that it changes, so that a process without the key of a message leaves it as it is.
 * Codes and classes stay legible because operators list tasks by them.
 */
export interface TaskForm {
  readonly toDocument: (task: Task) => TaskDocument;
  readonly toTask: (document: TaskDocument) => Task;
  readonly updateOf: (before: Task, changes: Changes) => ReturnType<typeof updateOf>;
  readonly linkFields: ReturnType<typeof createTaskLinks>['fieldsOf'];
}

export function createTaskForm(sealing: Sealing): TaskForm {
  const { seal, open } = sealing;
  const links = createTaskLinks(sealing);
  const placeOf = (id: string, part: string) => ({ purpose: 'upstream-words', id, part }) as const;

  const sealed = (id: string, words: Words): SealedParts =>
    Object.fromEntries(
      Object.entries(words).map(([part, text]) => [part, toSealedDocument(seal(placeOf(id, part), text))]),
    );

  /** An unreadable message does not hide the rest of the task: its key may be missing only here, and not for long. */
  function read(id: string, held: SealedParts): Words {
    return Object.fromEntries(
      Object.entries(held).map(([part, value]) => {
        try {
          return [part, open(placeOf(id, part), toSealed(value))];
        } catch {
          return [part, unreadable];
        }
      }),
    );
  }

  return {
    linkFields: links.fieldsOf,

    toDocument(task) {
      const words = wordsOf(task);
      const document = toDocument(withoutLinks(saying(task, {})));
      return {
        ...document,
        ...(isEmpty(words) ? {} : { words: sealed(task.id, words) }),
        ...defined({ links: links.seal(task.id, task.outcome) }),
      };
    },

    toTask(document) {
      const { words, links: held } = document;
      const task = toTask(document);
      const said = words === undefined ? task : saying(task, read(task.id, words));
      const { outcome } = said;
      if (held === undefined || outcome === undefined) return said;
      return { ...said, outcome: links.open(task.id, outcome, held) };
    },

    updateOf(before, changes) {
      const isAboutThem = 'attempts' in changes || 'outcome' in changes || 'error' in changes;
      if (!isAboutThem) return updateOf(before, changes);
      const [was, is] = [wordsOf(before), wordsOf({ ...before, ...changes })];
      const sealedFields = { ...changesOf(before.id, was, is), ...links.changeOf(before, changes) };
      return updateOf(before, withoutLinks(saying(changes, {})), sealedFields);
    },
  };

  function changesOf(id: string, was: Words, is: Words): Readonly<Record<string, unknown>> {
    if (isEmpty(is)) return isEmpty(was) ? {} : { words: undefined };
    const gone = Object.keys(was).filter((part) => !(part in is));
    const said = Object.entries(is).filter(([part, text]) => was[part] !== text);
    const values = [
      ...gone.map((part) => [part, undefined] as const),
      ...Object.entries(sealed(id, Object.fromEntries(said))),
    ];
    return Object.fromEntries(values.map(([part, value]) => [`words.${part}`, value]));
  }
}

const unreadable = 'What the upstream said cannot be read: SECRETS_KEY lacks its key.';

/** Messages by place: an attempt's number, `outcome` or `error`. The suffix `-caller` marks those for the caller. */
type Words = Readonly<Record<string, string>>;

type Said = { readonly [Name in 'attempts' | 'outcome' | 'error']?: Task[Name] | undefined };

function wordsOf({ attempts = [], outcome, error }: Said): Words {
  const ofFailure = outcome?.kind === 'failed' ? outcome : undefined;
  const said = attempts.map((attempt) => wordsAt(`${attempt.n}`, attempt));
  const all = [...said, wordsAt('outcome', ofFailure), wordsAt('error', error)];
  return Object.fromEntries(all.flatMap((words) => Object.entries(words)));
}

function wordsAt(place: string, { message, messageToCaller }: Partial<SaidOfFailure> = {}): Words {
  return {
    ...(message === undefined ? {} : { [place]: message }),
    ...(messageToCaller === undefined ? {} : { [forCaller(place)]: messageToCaller }),
  };
}

function forCaller(place: string): string {
  return `${place}-caller`;
}

function withoutLinks<Part extends Pick<Said, 'outcome'>>(part: Part): Part {
  return part.outcome === undefined ? part : { ...part, outcome: unlinked(part.outcome) };
}

function isEmpty(words: Words): boolean {
  return Object.keys(words).length === 0;
}

/** With these words in place of its own. */
function saying<Part extends Said>(part: Part, words: Words): Part {
  const { attempts, outcome, error } = part;
  const said = <Of extends Partial<SaidOfFailure>>(
    place: string,
    { message: _message, messageToCaller: _own, ...rest }: Of,
  ) => ({
    ...rest,
    ...defined({ message: words[place], messageToCaller: words[forCaller(place)] }),
  });
  return {
    ...part,
    ...defined({
      attempts: attempts?.map((attempt) => said(`${attempt.n}`, attempt)),
      outcome: outcome?.kind === 'failed' ? { message: '', ...said('outcome', outcome) } : outcome,
      error: error === undefined ? undefined : { message: '', ...said('error', error) },
    }),
  };
}
