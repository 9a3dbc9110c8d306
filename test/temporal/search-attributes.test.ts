import { afterAll, beforeAll, expect, it } from 'vitest';
import { NativeConnection } from '@temporalio/worker';
import { searchAttributeNames } from '../../src/base/queues.ts';
import { requireSearchAttributes } from '../../src/temporal/search-attributes.ts';
import { temporalAddress } from '../support/run-servers.ts';

let connection: NativeConnection;
beforeAll(async () => {
  connection = await NativeConnection.connect({ address: temporalAddress() });
});
afterAll(() => connection.close());

it('accepts a namespace with all attributes that workflows set', async () => {
  await expect(requireSearchAttributes({ connection, namespace: 'default' })).resolves.toBeUndefined();
});

it('names the missing attributes', async () => {
  const names = [...searchAttributeNames, 'MediaNothing', 'MediaElse'];
  await expect(requireSearchAttributes({ connection, namespace: 'default' }, names)).rejects.toThrow(
    'the Temporal namespace default lacks the search attributes MediaNothing, MediaElse (type Keyword)',
  );
});

it('trusts a server that lists none', async () => {
  const unknown = requireSearchAttributes({ connection, namespace: 'no-such-namespace' });
  await expect(unknown).resolves.toBeUndefined();
});
