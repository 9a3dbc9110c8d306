import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import type * as Temporal from '@temporalio/client';

import { searchAttributeNames } from '../../base/queues.ts';
import type { LocalOptions } from './local-options.ts';
import { choosePort, startOnPort, type PortRequest } from './ports.ts';
import { startChild, waitUntilServing, type ChildServer } from './process.ts';

const portDefault = 7233;
const startDeadlineMs = 60_000;
const retentionMs = 72 * 3_600_000;

const tuning = [
  // Polling 2,000 times per second makes every step 30 to 70 ms faster.
  'history.transferProcessorMaxPollRPS=2000',
  'history.timerProcessorMaxPollRPS=2000',
  'history.visibilityProcessorMaxPollRPS=2000',
  // With the default shift, timers fire a second late.
  'history.timerProcessorMaxTimeShift="50ms"',
  // Keeps one account's burst from delaying the others.
  'matching.enableFairness=true',
  // The polls of 600 channels need more waiting calls than the default limit of 1,200.
  'frontend.namespaceCount=10000',
  // With the default of four partitions, the queues of so many channels take minutes to create.
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
  // Disables pausing, because a paused task would miss its deadline.
  'frontend.WorkflowPauseEnabled=false',
  // A workflow gets a search attribute after two failed steps. The reconciler looks for it.
  'system.numConsecutiveWorkflowTaskProblemsToTriggerSearchAttribute=2',
  // By default, every call rereads the search attributes, which takes 16% of the CPU time per task.
  'system.forceSearchAttributesCacheRefreshOnRead=false',
];

export type TemporalOptions = LocalOptions & {
  binary: string;
  /** Defaults to 7233 or the next free port. */
  port?: PortRequest;
  uiPort: PortRequest | 'none';
  dynamicConfig?: readonly string[];
};

export type TemporalServer = ChildServer & {
  address: string;
  uiUrl: string | undefined;
};

export async function startTemporalServer(options: TemporalOptions): Promise<TemporalServer> {
  await mkdir(options.dataDir, { recursive: true });
  return startOnPort(options.port ?? { preferred: portDefault }, 'Temporal', (port) =>
    startOn(port, options),
  );
}

async function startOn(port: number, options: TemporalOptions): Promise<TemporalServer> {
  // Choose the UI port again for each attempt, because another program may have taken either of the two ports.
  const uiPort = options.uiPort === 'none' ? undefined : await choosePort(options.uiPort, 'the Temporal UI');
  const child = await startChild({
    ...options,
    name: 'temporal',
    command: options.binary,
    args: serverArguments(options, port, uiPort),
  });
  const address = `127.0.0.1:${port}`;
  await waitUntilServing(child, () => prepareNamespace(address), startDeadlineMs);
  const uiUrl = uiPort === undefined ? undefined : `http://127.0.0.1:${uiPort}`;
  return { ...child, address, uiUrl };
}

/**
 * The variables that remove buttons from the Temporal UI (TEMPORAL_WORKFLOW_TERMINATE_…) work only in the separate UI
 * server. The UI in the dev server ignores them (tested on 1.9.1), so ui-proxy.ts removes the buttons.
 */
function serverArguments(options: TemporalOptions, port: number, uiPort: number | undefined): string[] {
  const dynamicConfig = [...tuning, ...(options.dynamicConfig ?? [])];
  return [
    'server',
    'start-dev',
    '--ip',
    '127.0.0.1',
    '--port',
    String(port),
    ...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort), '--ui-disable-news-fetch']),
    '--log-level',
    'warn',
    '--db-filename',
    join(options.dataDir, 'temporal.db'),
    // A write-ahead log doubles the workflow throughput. Data written with `normal` still survives the end of the
    // process.
    '--sqlite-pragma',
    'journal_mode=wal',
    '--sqlite-pragma',
    'synchronous=normal',
    ...searchAttributeNames.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
    ...dynamicConfig.flatMap((setting) => ['--dynamic-config-value', setting]),
  ];
}

/** Looks up a workflow, which needs every part of the server. Describing the namespace would succeed too early. */
async function askForWorkflow(
  connection: Temporal.Connection,
  { Client, WorkflowNotFoundError }: typeof Temporal,
): Promise<void> {
  try {
    await new Client({ connection }).workflow.getHandle('none').describe();
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

/**
 * The reconciler and operators need closed workflows for three days. The dev server keeps them for 24 hours by default.
 */
async function prepareNamespace(address: string): Promise<void> {
  // Load the SDK while the server starts, because loading it takes 0.3 s.
  const [sdk, { msToTs, optionalTsToMs }] = await Promise.all([
    import('@temporalio/client'),
    import('@temporalio/common/lib/time.js'),
  ]);
  const connection = await sdk.Connection.connect({ address, connectTimeout: 1_000 });
  try {
    await connection.withDeadline(Date.now() + 2_000, async () => {
      const found = await connection.workflowService.describeNamespace({ namespace: 'default' });
      const retention = optionalTsToMs(found.config?.workflowExecutionRetentionTtl) ?? 0;
      if (retention < retentionMs) {
        await connection.workflowService.updateNamespace({
          namespace: 'default',
          config: { workflowExecutionRetentionTtl: msToTs(retentionMs) },
        });
      }
      await askForWorkflow(connection, sdk);
    });
  } finally {
    await connection.close();
  }
}
