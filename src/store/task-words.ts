import { isDeepStrictEqual } from 'node:util';
import { defined } from '../base/defined.ts';
import type { Changes } from '../task/transition.ts';
import type { Task } from '../task/record.ts';
import type { SaidOfFailure } from '../task/task.ts';
import { sealedParts, type SealedParts, type Sealing } from './sealed-document.ts';
import type { ErrorTerms } from './error-words.ts';
import { sortKey, toDocument, toTask, updateOf, type TaskDocument } from './task-document.ts';
import { createTaskLinks, unlinked } from './task-links.ts';

export type TaskForm = ReturnType<typeof createTaskForm>;

export interface TaskSealing extends Sealing {
  readonly errorTerms: ErrorTerms;
}

/**
 * Upstreams' failure messages may quote the caller, so they are sealed and stored beside the record. Each message is
 * sealed separately, and a change writes only the messages that it affects. A process that lacks a message's key
 * therefore leaves that message as it is. Codes and classes stay readable, because operators list tasks by them.
 */
export function createTaskForm({ errorTerms, ...sealing }: TaskSealing) {
  const parts = sealedParts(sealing, 'upstream-words');
  const links = createTaskLinks(sealing);
  const terms = saidWith(errorTerms);

  /**
   * A message that cannot be read must not hide the rest of the task. Its key may be missing only in this process and
   * only for a while.
   */
  function read(id: string, held: SealedParts): Words {
    return Object.fromEntries(
      Object.keys(held).map((part) => [part, parts.open(id, held, part) ?? unreadable]),
    );
  }

  return {
    linkFields: links.fieldsOf,

    toDocument(task: Task): TaskDocument {
      const words = wordsOf(task);
      const document = toDocument(withoutLinks(saying(task, {})));
      return {
        ...document,
        ...(isEmpty(words) ? {} : { words: parts.seal(task.id, words) }),
        ...defined({ links: links.seal(task.id, task.outcome), said: terms.of(task, textsOf(task)) }),
      };
    },

    toTask(document: TaskDocument): Task {
      const { words, links: held } = document;
      const task = toTask(document);
      const whole = words === undefined ? task : saying(task, read(task.id, words));
      const { outcome } = whole;
      if (held === undefined || outcome === undefined) return whole;
      return { ...whole, outcome: links.open(task.id, outcome, held) };
    },

    updateOf(before: Task, changes: Changes): ReturnType<typeof updateOf> {
      const isAboutThem = 'attempts' in changes || 'outcome' in changes || 'error' in changes;
      if (!isAboutThem) return updateOf(before, changes);
      const after = { ...before, ...changes };
      const { fields, ...operators } = terms.changeOf(before, after);
      const sealedFields = {
        ...changesOf(wordsOf(before), wordsOf(after), (words) => parts.seal(before.id, words)),
        ...links.changeOf(before, changes),
        ...fields,
      };
      return { ...updateOf(before, withoutLinks(saying(changes, {})), sealedFields), ...operators };
    },
  };
}

const unreadable =
  'The upstream’s message cannot be read, because SECRETS_KEY does not contain the key that sealed it.';

type Words = Readonly<Record<string, string>>;

type Said = { readonly [Name in 'attempts' | 'outcome' | 'error']?: Task[Name] | undefined };

function wordsOf({ attempts = [], outcome, error }: Said): Words {
  const ofFailure = outcome?.kind === 'failed' ? outcome : undefined;
  const said = attempts.map((attempt) => wordsAt(`${attempt.n}`, attempt));
  const all = [...said, wordsAt('outcome', ofFailure), wordsAt('error', error)];
  return Object.fromEntries(all.flatMap((words) => Object.entries(words)));
}

function changesOf(
  was: Words,
  is: Words,
  sealed: (words: Words) => SealedParts,
): Readonly<Record<string, unknown>> {
  if (isEmpty(is)) return isEmpty(was) ? {} : { words: undefined };
  const gone = Object.keys(was).filter((part) => !(part in is));
  const said = Object.entries(is).filter(([part, text]) => was[part] !== text);
  const values = [
    ...gone.map((part) => [part, undefined] as const),
    ...Object.entries(sealed(Object.fromEntries(said))),
  ];
  return Object.fromEntries(values.map(([part, value]) => [`words.${part}`, value]));
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

function saidWith(errorTerms: ErrorTerms) {
  function of(
    { id, createdAt }: Pick<Task, 'id' | 'createdAt'>,
    texts: readonly string[],
  ): TaskDocument['said'] {
    const terms = errorTerms(texts.filter((text) => text !== unreadable));
    // Sort the terms, because they are ordered by the length of their words, which must stay secret.
    return terms.length === 0 ? undefined : { terms: terms.toSorted(), sort: sortKey(createdAt, id) };
  }

  return {
    of,
    changeOf(before: Task, after: Said) {
      const [was, is] = [textsOf(before), textsOf(after)];
      if (isDeepStrictEqual(was, is)) return {};
      if (!is.includes(unreadable)) return { fields: { said: of(before, is) } };
      const added = of(
        before,
        is.filter((text) => !was.includes(text)),
      );
      if (added === undefined) return {};
      const $addToSet = { 'said.terms': { $each: added.terms } };
      return { fields: { 'said.sort': added.sort }, $addToSet };
    },
  };
}

function textsOf({ attempts = [], outcome, error }: Said): string[] {
  const ofFailure = outcome?.kind === 'failed' ? outcome : undefined;
  const texts = [...attempts, ofFailure, error].flatMap((said) => [said?.message, said?.code]);
  return [...new Set(texts.filter((text) => text !== undefined))];
}

function isEmpty(words: Words): boolean {
  return Object.keys(words).length === 0;
}

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
