import { invalidParameter } from '../errors/errors.ts';
import type { PageRequest } from '../store/tasks.ts';

export interface CursorPage extends Omit<PageRequest, 'after'> {
  readonly after?: string;
}

/**
 * Returns undefined for the first page. Throws invalid_parameter if no item has this id, because an empty page would
 * look like the end of the list. `of` describes an item, such as `a key`.
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
