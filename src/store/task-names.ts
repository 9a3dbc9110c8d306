import type { Collection, Filter } from 'mongodb';
import { namesOf } from '../base/names-of.ts';
import { beginning, idPartMin, partsWithin } from '../base/search-text.ts';
import type { Task } from '../task/record.ts';
import type { TaskNaming } from '../task/task.ts';
import type { TaskDocument } from './task-document.ts';
import type { TaskForm, TaskSealing } from './task-words.ts';

export interface NamedTask {
  readonly by: TaskNaming;
  readonly task: Task;
}

/** Callers choose their own request ids, so any number of tasks may have the same one. */
const namedMax = 20;
/** In a hundred million tasks, about 170 share the same part of an id by chance. The limit leaves room for more. */
const candidatesMax = 2_000;
const errorWordsMax = 12;

type Reading = Pick<TaskForm, 'toTask'> & Pick<TaskSealing, 'errorTerms'>;

export function taskNames(tasks: Collection<TaskDocument>, { toTask, errorTerms }: Reading) {
  async function idsWith(text: string): Promise<string[]> {
    const parts = partsWithin(text);
    if (parts === undefined) return [];
    const options = { projection: { _id: 1 }, limit: candidatesMax } as const;
    const found = await tasks.find({ parts: { $in: parts } }, options).toArray();
    return found
      .map(({ _id }) => _id)
      .filter((id) => id.includes(text))
      .slice(0, namedMax);
  }

  /**
   * Considers only the newest tasks that contain the longest word of the text, and keeps those that also contain all
   * other words.
   */
  async function idsByError(text: string): Promise<string[]> {
    const [longest, ...others] = errorTerms([text], errorWordsMax);
    if (longest === undefined) return [];
    const limit = others.length === 0 ? namedMax : candidatesMax;
    const options = { projection: { said: 1 }, limit, sort: { 'said.sort': -1 } } as const;
    const found = await tasks.find({ 'said.terms': longest }, options).toArray();
    return found
      .filter(({ said }) => others.every((term) => said?.terms.includes(term) === true))
      .slice(0, namedMax)
      .map(({ _id }) => _id);
  }

  return {
    /**
     * Searches the ids of tasks, requests and upstream jobs, and the markers of submissions. Each search returns at
     * most 20 tasks. If the text is long enough, any part of a task id or the beginning of another name is enough. If
     * nothing matches, searches failure messages.
     */
    async findNamed(text: string): Promise<NamedTask[]> {
      const name = text.length < idPartMin ? text : beginning(text);
      const queries = {
        task: { _id: { $in: [text, ...(await idsWith(text))] } },
        request_id: { requestId: name },
        upstream_id: { 'attempts.operation.id': name },
        marker: { 'attempts.marker': name },
      } as const satisfies Record<Exclude<TaskNaming, 'error'>, object>;
      const foundBy = async (by: TaskNaming, query: Filter<TaskDocument>): Promise<NamedTask[]> => {
        const documents = await tasks.find(query).limit(namedMax).toArray();
        return documents.map((document) => ({ by, task: toTask(document) }));
      };
      const found = await Promise.all(namesOf(queries).map((by) => foundBy(by, queries[by])));
      const named = found.flat();
      if (named.length > 0) return named;
      const byError = await foundBy('error', { _id: { $in: await idsByError(text) } });
      return byError.toSorted((a, b) => b.task.createdAt - a.task.createdAt);
    },
  };
}
