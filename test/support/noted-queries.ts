import { Collection, Db } from 'mongodb';
import { describeShape, shapeOfFilter, type QueryShape } from './query-shape.ts';
import { copySuffix } from './stale-reads.ts';

/**
 * A query that src has sent. The driver's methods are wrapped, because only the call site reveals whether src or a test
 * sent a query.
 */
interface Noted {
  readonly collection: string;
  readonly operation: string;
  readonly filter: Record<string, '=' | 'range' | 'test'>;
  sort: Record<string, 1 | -1>;
  readonly file: string;
}

const operations = `find findOne updateOne updateMany replaceOne deleteOne deleteMany findOneAndUpdate
  findOneAndReplace findOneAndDelete countDocuments distinct aggregate`.split(/\s+/);

const noted = new Map<string, Noted>();
const productFile = /\/src\/((?:store|ledger)\/[\w/-]+\.ts)/;

for (const operation of operations) {
  const original = Reflect.get(Collection.prototype, operation) as (...args: unknown[]) => unknown;
  Reflect.set(Collection.prototype, operation, function (this: Collection, ...args: unknown[]): unknown {
    const file = callerFile();
    if (file !== undefined) refuseEmptyOperators(args[1], file);
    const result = original.apply(this, args);
    if (file === undefined) return result;
    const entry: Noted = {
      collection: this.collectionName.replace(copySuffix, ''),
      operation,
      filter: shapeOfFilter(operation === 'distinct' ? args[1] : filterOf(args[0])),
      sort: sortOf(args[1]),
      file,
    };
    if (operation === 'find') followSort(result as { sort: (order: unknown) => unknown }, entry);
    else note(entry);
    return result;
  });
}

/**
 * Throws on any version of MongoDB. Versions before 5.0 reject operators without fields, but the server under test may
 * accept them.
 */
function refuseEmptyOperators(update: unknown, file: string): void {
  if (typeof update !== 'object' || update === null) return;
  for (const [name, fields] of Object.entries(update)) {
    if (!name.startsWith('$') || typeof fields !== 'object' || fields === null) continue;
    if (Object.values(fields).every((value) => value === undefined))
      throw new TypeError(`${file} sends an update with an empty ${name}`);
  }
}

const command = Reflect.get(Db.prototype, 'command') as (...args: unknown[]) => unknown;
Reflect.set(Db.prototype, 'command', function (this: Db, ...args: unknown[]): unknown {
  const result = command.apply(this, args);
  const { find, filter } = args[0] as { readonly find?: unknown; readonly filter?: unknown };
  const file = callerFile();
  if (typeof find === 'string' && file !== undefined) {
    note({
      collection: find.replace(copySuffix, ''),
      operation: 'find',
      filter: shapeOfFilter(filter),
      sort: {},
      file,
    });
  }
  return result;
});

function note(entry: Noted): void {
  noted.set(describeShape(entry), entry);
}

/**
 * A cursor is sorted after it is filtered. Its query is therefore recorded only once it is sorted or, if it never is,
 * at the end of the file.
 */
const cursors: Noted[] = [];
function followSort(cursor: { sort: (order: unknown) => unknown }, entry: Noted): void {
  cursors.push(entry);
  if (cursors.length > 10_000) cursors.splice(0).forEach(note);
  const sort = cursor.sort.bind(cursor);
  cursor.sort = (order) => {
    entry.sort = sortOf({ sort: order });
    return sort(order);
  };
}

function filterOf(first: unknown): unknown {
  if (!Array.isArray(first)) return first;
  const match: unknown = first.find(
    (stage) => typeof stage === 'object' && stage !== null && '$match' in stage,
  );
  return typeof match === 'object' && match !== null ? Reflect.get(match, '$match') : {};
}

function sortOf(options: unknown): Record<string, 1 | -1> {
  const sort: unknown =
    typeof options === 'object' && options !== null ? Reflect.get(options, 'sort') : undefined;
  if (typeof sort !== 'object' || sort === null) return {};
  return Object.fromEntries(
    Object.entries(sort).map(([field, direction]) => [field, direction === -1 ? -1 : 1]),
  );
}

/** Undefined if the call was made by a test, or by the driver itself (findOne calls find). */
function callerFile(): string | undefined {
  const prepare: unknown = Reflect.get(Error, 'prepareStackTrace');
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 3;
  Error.prepareStackTrace = (_error, frames) => frames.map((frame) => frame.getFileName() ?? '');
  const files: unknown = new Error('the stack alone is read').stack;
  Error.stackTraceLimit = stackTraceLimit;
  Reflect.set(Error, 'prepareStackTrace', prepare);
  const names = Array.isArray(files) ? files.map(String) : [];
  return productFile.exec(names.find((name) => !name.includes('/noted-queries.ts')) ?? '')?.[1];
}

export function takeNotedQueries(): readonly (readonly [row: string, shape: QueryShape])[] {
  cursors.splice(0).forEach(note);
  const taken = [...noted];
  noted.clear();
  return taken;
}
