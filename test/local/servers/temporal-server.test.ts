import { request } from 'undici';
import { Client, Connection } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { afterAll, expect, it } from 'vitest';

import { searchAttributeNames } from '../../../src/domain/queues.ts';
import { startTemporalServer } from '../../../src/local/servers/temporal-server.ts';
import { resolveTemporal } from '../../../src/local/servers/temporal-source.ts';
import { temporalAddress } from '../../support/run-servers.ts';
import { cacheDir, startTemporal } from '../../support/servers.ts';
import { scratchDirectory, scratchOptions } from './scratch.ts';

const connections: Connection[] = [];

afterAll(async () => {
  await Promise.all(connections.map((connection) => connection.close()));
});

async function clientOf(address: string): Promise<Client> {
  const connection = await Connection.connect({ address });
  connections.push(connection);
  return new Client({ connection });
}

it('the search attributes are there, all Keywords', async () => {
  const { connection } = await clientOf(temporalAddress());
  const { customAttributes } = await connection.operatorService.listSearchAttributes({
    namespace: 'default',
  });
  // 2 is INDEXED_VALUE_TYPE_KEYWORD of temporal.api.enums.v1.
  expect(customAttributes).toMatchObject(Object.fromEntries(searchAttributeNames.map((name) => [name, 2])));
});

it('closed workflows are kept for 72 hours', async () => {
  const { connection } = await clientOf(temporalAddress());
  const { config } = await connection.workflowService.describeNamespace({ namespace: 'default' });
  expect(tsToMs(config?.workflowExecutionRetentionTtl)).toBe(72 * 3_600_000);
});

it('workflows survive kill -9 of the server and a restart on the same address', async () => {
  const temporal = await startTemporal({ dir: await scratchDirectory() });
  const client = await clientOf(temporal.address);
  const { workflowId } = await client.workflow.start('nobody-runs-it', {
    taskQueue: 'none',
    workflowId: 'survivor',
    searchAttributes: { MediaModel: ['a-model'] },
  });
  const firstPid = temporal.pid;
  await temporal.kill();
  await temporal.restart();
  expect(temporal.pid).not.toBe(firstPid);
  const description = await client.workflow.getHandle(workflowId).describe();
  expect(description.status.name).toBe('RUNNING');
  await temporal.stop();
});

it('the user interface answers where the server says', async () => {
  const options = await scratchOptions();
  const binary = await resolveTemporal({ ...options, dataDir: cacheDir });
  const server = await startTemporalServer({ ...options, binary, port: 'any', uiPort: 'any' });
  const answer = await request(`${server.uiUrl}/api/v1/settings`);
  expect(answer.statusCode).toBe(200);
  await answer.body.dump();
  await server.stop();
});
