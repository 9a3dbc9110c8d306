import { MongoNetworkError, MongoNetworkTimeoutError, MongoServerError } from 'mongodb';
import type { Collection, Db } from 'mongodb';
import type { TaskDocument } from './task-document.ts';

/**
 * `findOne` by `_id` for the hottest read, as a command of its own: the cursor that the driver opens for its one
 * document costs a third of the read's CPU. The driver repeats a failed `findOne` and no command, so a failure of the
 * connection, or of a server that is no longer the primary, is followed by a `findOne`.
 */
export function createFindById(
  db: Db,
  collection: Collection<TaskDocument>,
): (id: string) => Promise<TaskDocument | undefined> {
  const { collectionName, readPreference } = collection;
  const readConcern = collection.readConcern?.toJSON();
  const fixed = { limit: 1, singleBatch: true, ...(readConcern === undefined ? {} : { readConcern }) };
  const options = { useBigInt64: true, ...(readPreference === undefined ? {} : { readPreference }) };
  return async (id) => {
    try {
      const command = { find: collectionName, filter: { _id: id }, ...fixed };
      const reply: unknown = await db.command(command, options);
      return isReply(reply) ? reply.cursor.firstBatch[0] : undefined;
    } catch (error) {
      if (!isRepeatable(error)) throw error;
      const found = await collection.findOne({ _id: id });
      return found ?? undefined;
    }
  };
}

interface Reply {
  readonly cursor: { readonly firstBatch: readonly TaskDocument[] };
}

function isReply(reply: unknown): reply is Reply {
  return typeof reply === 'object' && reply !== null && 'cursor' in reply;
}

/** What waited for its whole time is not asked for again. */
function isRepeatable(error: unknown): boolean {
  if (error instanceof MongoNetworkTimeoutError) return false;
  return error instanceof MongoNetworkError || error instanceof MongoServerError;
}
