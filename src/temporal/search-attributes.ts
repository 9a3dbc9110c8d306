import type { NativeConnection } from '@temporalio/worker';
import { searchAttributeNames } from '../base/queues.ts';

export interface SearchedNamespace {
  readonly connection: Pick<NativeConnection, 'operatorService'>;
  readonly namespace: string;
}

/**
 * Throws if the namespace lacks a search attribute that workflows set, because tasks would get stuck when setting it.
 * If the server does not let this client list the attributes, they are assumed to exist.
 */
export async function requireSearchAttributes(
  { connection, namespace }: SearchedNamespace,
  names: readonly string[] = searchAttributeNames,
): Promise<void> {
  const listed = await connection.operatorService.listSearchAttributes({ namespace }).catch(() => undefined);
  const known = listed?.customAttributes;
  if (known === undefined || known === null) return;
  const missing = names.filter((name) => !Object.hasOwn(known, name));
  if (missing.length === 0) return;
  throw new Error(
    `the Temporal namespace ${namespace} lacks the search attributes ${missing.join(', ')} (type Keyword): ` +
      'register them with deploy/temporal/create-namespace.sh, or `temporal operator search-attribute create`',
  );
}
