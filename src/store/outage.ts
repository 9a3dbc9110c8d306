import { MongoError, MongoServerError } from 'mongodb';

/** What the server says of a document or of a command, however often it is asked. */
const contentCodes: ReadonlySet<unknown> = new Set([2, 9, 14, 28, 40, 66, 121, 10334, 11000, 17280, 17419]);

/** Whether the same operation may succeed later: the database, or the way to it, is at fault, and not what is written. */
export function isOutage(error: unknown): boolean {
  if (error instanceof MongoServerError) return !contentCodes.has(error.code);
  return error instanceof MongoError || (error instanceof Error && 'syscall' in error);
}
