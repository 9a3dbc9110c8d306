import type { Collection, Document } from 'mongodb';

/** As in all of the gateway's collections, `_id` is a string. */
export type Subject = Collection<Document & { _id: string }>;

export type Check = {
  name: string;
  expected: unknown;
  run: (collection: Subject) => Promise<unknown>;
};

export function check(name: string, expected: unknown, run: Check['run']): Check {
  return { name, expected, run };
}

export async function codeOf(operation: () => Promise<unknown>): Promise<unknown> {
  try {
    await operation();
    return 'none';
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : String(error);
  }
}

export async function idsOf(documents: Promise<readonly { _id: string }[]>): Promise<string> {
  return (await documents).map(({ _id }) => _id).join(' ');
}

export async function fieldOfA(collection: Subject, field: string): Promise<unknown> {
  const document = await collection.findOne({ _id: 'a' });
  const value: unknown = document?.[field];
  return value;
}
