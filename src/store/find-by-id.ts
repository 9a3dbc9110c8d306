import { MongoNetworkError, MongoNetworkTimeoutError, MongoServerError } from 'mongodb';
import type { Collection, Db, Filter } from 'mongodb';
import { gatherReads } from './gather-reads.ts';
import type { TaskDocument } from './task-document.ts';

/**
 * Finds documents by `_id`, which is the most frequent read. It sends a plain command, because the driver's cursor
 * takes a third of the CPU time of such a read. Under load, several callers share a command. The driver does not retry
 * commands, so after a connection failure or a change of primary, the read is repeated as a `find`.
 */
export function createFindById(
  db: Db,
  collection: Collection<TaskDocument>,
): (id: string) => Promise<TaskDocument | undefined> {
  const { collectionName, readPreference } = collection;
  const readConcern = collection.readConcern?.toJSON();
  const fixed = { singleBatch: true, ...(readConcern === undefined ? {} : { readConcern }) };
  const options = { useBigInt64: true, ...(readPreference === undefined ? {} : { readPreference }) };

  async function find(filter: Filter<TaskDocument>, limit: number): Promise<readonly TaskDocument[]> {
    try {
      const command = { find: collectionName, filter, limit, ...fixed };
      const reply: unknown = await db.command(command, options);
      return isReply(reply) ? reply.cursor.firstBatch : [];
    } catch (error) {
      if (!isRepeatable(error)) throw error;
      return collection.find(filter, { limit }).toArray();
    }
  }

  return gatherReads({
    one: async (id) => (await find({ _id: id }, 1))[0],
    many: async (ids) => {
      const found = await find({ _id: { $in: [...ids] } }, ids.length);
      return new Map(found.map((document) => [document._id, document]));
    },
  });
}

interface Reply {
  readonly cursor: { readonly firstBatch: readonly TaskDocument[] };
}

function isReply(reply: unknown): reply is Reply {
  return typeof reply === 'object' && reply !== null && 'cursor' in reply;
}

function isRepeatable(error: unknown): boolean {
  if (error instanceof MongoNetworkTimeoutError) return false;
  return error instanceof MongoNetworkError || error instanceof MongoServerError;
}
