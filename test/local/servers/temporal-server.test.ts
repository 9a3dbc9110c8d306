import { Client, Connection } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { afterAll, expect, it, onTestFinished } from 'vitest';

import { searchAttributeNames } from '../../../src/base/queues.ts';
import { startTemporalServer } from '../../../src/local/servers/temporal-server.ts';
import { choosePort } from '../../../src/local/servers/ports.ts';
import { resolveTemporal } from '../../../src/local/servers/temporal-source.ts';
import { startUiProxy } from '../../../src/local/servers/ui-proxy.ts';
import { waitUntil } from '../../support/processes.ts';
import { temporalAddress } from '../../support/run-servers.ts';
import { cacheDir } from '../../support/cache-dir.ts';
import { startTemporal } from '../../support/servers.ts';
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

it('the search attributes exist, all as Keywords', async () => {
  const { connection } = await clientOf(temporalAddress());
  const { customAttributes } = await connection.operatorService.listSearchAttributes({
    namespace: 'default',
  });
  // The number 2 stands for INDEXED_VALUE_TYPE_KEYWORD in temporal.api.enums.v1.
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

it('the user interface works through the proxy, without the buttons that bypass the ledger', async () => {
  const options = await scratchOptions();
  const binary = await resolveTemporal({ ...options, dataDir: cacheDir });
  const server = await startTemporalServer({ ...options, binary, port: 'any', uiPort: 'any' });
  const proxy = await startUiProxy(server.uiUrl ?? '', await choosePort('any', 'a test'));
  onTestFinished(async () => {
    await proxy.stop();
    await server.stop();
  });
  await waitUntil('the UI listens', async () => (await fetch(proxy.url)).ok);
  const settings = await fetch(`${proxy.url}/api/v1/settings`);
  const own = JSON.parse(await (await fetch(`${server.uiUrl}/api/v1/settings`)).text());
  const off = {
    StartWorkflowDisabled: true,
    WorkflowTerminateDisabled: true,
    WorkflowResetDisabled: true,
    BatchActionsDisabled: true,
  };
  expect(Object.keys(own)).toEqual(expect.arrayContaining(Object.keys(off)));
  expect(JSON.parse(await settings.text())).toEqual({ ...own, ...off });
  expect(await (await fetch(`${proxy.url}/namespaces/default/workflows`)).text()).toMatch(/<!doctype html>/);

  const { workflow } = await clientOf(server.address);
  const handle = await workflow.start('nobody-runs-it', { taskQueue: 'none', workflowId: 'w' });
  const cookies = settings.headers.getSetCookie().map((cookie) => cookie.split(';')[0]);
  const token = cookies.at(-1)?.split('=')[1] ?? '';
  const post = (path: string) =>
    fetch(`${proxy.url}/api/v1/namespaces/default/workflows/w/${path}`, {
      method: 'POST',
      headers: {
        cookie: `_csrf=${token}`,
        'x-csrf-token': token,
        origin: proxy.url,
        'content-type': 'application/json',
      },
      body: '{}',
    });
  expect([(await post('terminate')).status, (await handle.describe()).status.name]).toEqual([403, 'RUNNING']);
  await expect.poll(async () => (await post('signal/hello')).status).toBe(200);
  const { events } = await handle.fetchHistory();
  expect(events?.map((event) => event.workflowExecutionSignaledEventAttributes?.signalName)).toContain(
    'hello',
  );
});
