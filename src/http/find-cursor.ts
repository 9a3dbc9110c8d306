import { invalidParameter } from '../errors/errors.ts';
import type { PageRequest } from '../store/tasks.ts';

/** `after`: the id of the last task of the page before. */
export interface CursorPage extends Omit<PageRequest, 'after'> {
  readonly after?: string;
}

/**
 * The last item of the page before; undefined: there is none. Throws invalid_parameter where the id names none of them:
 * an empty page would look like the end of the list. `of`: such as `a key`.
 */
export async function findCursor<Item>(
  id: string | undefined,
  of: string,
  find: (id: string) => Promise<Item | undefined>,
): Promise<Item | undefined> {
  const found = id === undefined ? undefined : await find(id);
  if (id !== undefined && found === undefined)
    throw invalidParameter('after', `The parameter after must be the id of ${of}.`);
  return found;
}
