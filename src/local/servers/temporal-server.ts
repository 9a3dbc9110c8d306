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

/**
 * The reasons for these settings: Polling 2,000 times per second makes every step 30 to 70 ms faster. With the default
 * shift, timers fire a second late. Fairness keeps one account's burst from delaying the others. The polls of 600
 * channels exceed the default of 1,200 waiting calls, and with four partitions each, their queues take minutes to
 * create. A paused task would miss its deadline. A workflow whose step has failed twice gets a mark that the reconciler
 * searches for. By default, the dev server rereads its search attributes for every call, which takes 16 % of its CPU
 * time per task although they do not change.
 */
const tuning = [
  'history.transferProcessorMaxPollRPS=2000',
  'history.timerProcessorMaxPollRPS=2000',
  'history.visibilityProcessorMaxPollRPS=2000',
  'history.timerProcessorMaxTimeShift="50ms"',
  'matching.enableFairness=true',
  'frontend.namespaceCount=10000',
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
  'frontend.WorkflowPauseEnabled=false',
  'system.numConsecutiveWorkflowTaskProblemsToTriggerSearchAttribute=2',
  'system.forceSearchAttributesCacheRefreshOnRead=false',
];

export type TemporalOptions = LocalOptions & {
  /** The program's path. */
  binary: string;
  /** Defaults to 7233 or the next free port. */
  port?: PortRequest;
  /** `none` starts no UI. */
  uiPort: PortRequest | 'none';
  /** For tests only: allows skipping timers. */
  timeSkipping?: boolean;
};

export type TemporalServer = ChildServer & {
  address: string;
  uiUrl: string | undefined;
};

/** Starts a dev server on DATA_DIR/temporal.db and waits until its namespace responds. */
export async function startTemporalServer(options: TemporalOptions): Promise<TemporalServer> {
  await mkdir(options.dataDir, { recursive: true });
  return startOnPort(options.port ?? { preferred: portDefault }, 'Temporal', (port) =>
    startOn(port, options),
  );
}

async function startOn(port: number, options: TemporalOptions): Promise<TemporalServer> {
  // Choose it anew with each port, because either one may be taken.
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
 * The switches that remove terminate, reset and start from the Temporal UI (TEMPORAL_WORKFLOW_TERMINATE_…) work only in
 * the stand-alone UI server. The dev server's built-in UI ignores them (tested on 1.9.1). See ui-proxy.ts.
 */
function serverArguments(options: TemporalOptions, port: number, uiPort: number | undefined): string[] {
  const dynamicConfig = [
    ...tuning,
    ...(options.timeSkipping === true ? ['frontend.WorkflowTimeSkippingEnabled=true'] : []),
  ];
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
    // A write-ahead log doubles the workflow throughput. With it, `normal` still survives the end of the process.
    '--sqlite-pragma',
    'journal_mode=wal',
    '--sqlite-pragma',
    'synchronous=normal',
    ...searchAttributeNames.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
    ...dynamicConfig.flatMap((setting) => ['--dynamic-config-value', setting]),
  ];
}

/**
 * Looks up a workflow, which involves every part of the server. Describing the namespace succeeds too early, before
 * every part knows it.
 */
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
 * Extends the retention of closed workflows. The dev server keeps them for 24 h, but reconciliation and operators look
 * back three days.
 */
async function prepareNamespace(address: string): Promise<void> {
  // Load the SDK while the server starts, because it takes 0.3 s.
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
