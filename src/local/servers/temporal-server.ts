import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { msToTs, optionalTsToMs } from '@temporalio/common/lib/time.js';

import { searchAttributeNames } from '../../base/queues.ts';
import type { LocalOptions } from './local-options.ts';
import { choosePort, startOnPort, type PortRequest } from './ports.ts';
import { startChild, waitUntilServing, type ChildServer } from './process.ts';

const portDefault = 7233;
const startDeadlineMs = 60_000;
const retentionMs = 72 * 3_600_000;

/**
 * Why each: polling at 2000 a second takes 30 to 70 ms from every step; timers are a second late with the default
 * shift; fairness lets one account's burst not hold up the others; the polls of 600 channels are more than the 1,200
 * waiting calls of the default, and with four partitions each their queues take minutes to make; a paused task
 * would miss its deadline; a workflow whose step has failed twice is marked, which the reconciler looks for; the dev
 * server reads its search attributes anew for every call, 16 % of its CPU for a task, and they do not change.
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
  /** Its path. */
  binary: string;
  /** Default: 7233 or the next free one. */
  port?: PortRequest;
  /** `none` starts no user interface. */
  uiPort: PortRequest | 'none';
  /** Tests only: lets a test skip over timers. */
  timeSkipping?: boolean;
};

export type TemporalServer = ChildServer & {
  address: string;
  uiUrl: string | undefined;
};

/** Starts a dev server on DATA_DIR/temporal.db and waits until its namespace answers. */
export async function startTemporalServer(options: TemporalOptions): Promise<TemporalServer> {
  await mkdir(options.dataDir, { recursive: true });
  return startOnPort(options.port ?? { preferred: portDefault }, 'Temporal', (port) =>
    startOn(port, options),
  );
}

async function startOn(port: number, options: TemporalOptions): Promise<TemporalServer> {
  // Chosen anew with each port: either may be the one that was taken.
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
 * The switches that remove terminate, reset and start from the Temporal UI (TEMPORAL_WORKFLOW_TERMINATE_…) are read by
 * the stand-alone UI server only: the one inside the dev server ignores them (tried on 1.9.1). See ui-proxy.ts.
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
    // A write-ahead log doubles the workflows a second; with it, `normal` still survives the end of the process.
    '--sqlite-pragma',
    'journal_mode=wal',
    '--sqlite-pragma',
    'synchronous=normal',
    ...searchAttributeNames.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
    ...dynamicConfig.flatMap((setting) => ['--dynamic-config-value', setting]),
  ];
}

/** The namespace is described before every part of the server knows it; what asks for a workflow goes through them. */
async function askForWorkflow(connection: Connection): Promise<void> {
  try {
    await new Client({ connection }).workflow.getHandle('none').describe();
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

/** The dev server keeps closed workflows for 24 h; reconciliation and operators look back three days. */
async function prepareNamespace(address: string): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: 1_000 });
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
      await askForWorkflow(connection);
    });
  } finally {
    await connection.close();
  }
}
