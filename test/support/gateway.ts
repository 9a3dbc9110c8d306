import { testYaml, twoChannelsYaml } from './test-yaml.ts';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReconcileReport } from '../../activities/types.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import type { Environment } from '../../src/config/environment.ts';
import { openCore } from '../../src/compose/core.ts';
import type { Core } from '../../src/compose/core.ts';
import { createLogger } from '../../src/observability/log.ts';
import type { Logger } from '../../src/observability/log.ts';
import { startApi } from '../../src/api.ts';
import type { Control } from '../../workshop/simulator/control.ts';
import type { CreateDialect } from '../../workshop/simulator/dialect.ts';
import { startSimulator } from '../../workshop/simulator/simulator.ts';
import { installRuntime } from '../../src/temporal/install-runtime.ts';
import { startWorker } from '../../src/worker.ts';
import { adminCaller, caller, makeAccount } from './client.ts';
import type { AccountOptions, AdminCall, Call, TestAccount } from './client.ts';
import { databaseUri, temporalAddress } from './run-servers.ts';

/**
 * A whole gateway in this process, on the run's Temporal and MongoDB and a simulator of its own: what a test calls
 * over HTTP as a user does. Every gateway has its own database and task queues.
 */
export interface TestGateway {
  readonly url: string;
  /** The upstream's own view: counts, tasks, faults to inject. */
  readonly simulator: Control;
  readonly simulatorUrl: string;
  readonly core: Core;
  /** The gateway's own clock, which a test may move on. */
  readonly clock: { aheadMs: number };
  /** Lines of the log so far, with `watchesLog`. */
  readonly logLines: readonly string[];
  readonly adminToken: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly call: Call;
  readonly admin: AdminCall;
  /** An account with a credit and a key. */
  account(options?: AccountOptions): Promise<TestAccount>;
  /** Runs the reconciler once; the time in which it takes nobody for dead has passed since it ran before. */
  reconcile(): Promise<ReconcileReport>;
  /** As if its process had ended; what the test starts in its place is the test's. */
  stopWorker(): Promise<void>;
  stop(): Promise<void>;
}

export interface TestGatewayOptions {
  /** gateway.yaml; `${SIMULATOR_URL}` is the simulator. Default: test/support/gateway.test.yaml. */
  readonly yaml?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly renderSeconds?: number;
  /** Dialects that the simulator serves in addition to its own. */
  readonly moreDialects?: readonly CreateDialect[];
  /** Default true. */
  readonly worker?: boolean;
  /** Keeps the log, at its most talkative. Default false: there is none. */
  readonly watchesLog?: boolean;
}

export const videoBody = {
  model: 'seedance',
  prompt: 'a paper boat on a rainy street',
  duration: 5,
  resolution: '720p',
  ratio: '16:9',
} as const;

/** 720p, 16:9, 5 s: 1280 × 720 × 121 / 1024 tokens by the documented formula, at 7.00 a million. */
export const videoTokens = 108_900;
export const videoCharge = '0.762300';

/** More than the reconciler waits for before it takes a task for abandoned. */
const abandonedAfterMs = 3 * 60_000;

/** Temporal's runtime is one per process; a test file may start several gateways. */
let runtimeInstalled = false;

export async function startGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const name = `t${randomBytes(5).toString('hex')}`;
  const directory = await mkdtemp(join(tmpdir(), `mediary-${name}-`));
  const simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    apiKeys: ['simulated'],
    renderSeconds: options.renderSeconds ?? 1,
    moreDialects: options.moreDialects ?? [],
  });
  process.env['SIMULATOR_URL'] = simulator.url;
  const configPath = join(directory, 'gateway.yaml');
  await writeFile(configPath, options.yaml ?? testYaml);
  const adminToken = randomBytes(16).toString('hex');
  const environment = await testEnvironment(name, {
    GATEWAY_CONFIG: configPath,
    SIMULATOR_URL: simulator.url,
    ADMIN_TOKEN: adminToken,
    ...options.environment,
  });
  const parsed: Environment = readEnvironment(environment);
  const logLines: string[] = [];
  const log = options.watchesLog === true ? keptLog(logLines) : shownLog();
  if (!runtimeInstalled) await installRuntime(log, parsed);
  runtimeInstalled = true;
  const clock = { aheadMs: 0 };
  const now = (): number => Date.now() + clock.aheadMs;
  const core = await openCore(parsed, log, { databaseNow: now });
  let worker = options.worker === false ? undefined : await startWorker(core);
  if (worker !== undefined) await pauseReconciler(core);
  const api = await startApi(core);
  const admin = adminCaller(api.url, adminToken);
  return {
    url: api.url,
    simulator: simulator.control,
    simulatorUrl: simulator.url,
    core,
    clock,
    logLines,
    adminToken,
    environment,
    admin,
    call: caller(api.url),
    async reconcile() {
      clock.aheadMs += abandonedAfterMs;
      return core.client.workflow.execute('reconcileTasks', {
        workflowId: `reconcile-${randomBytes(6).toString('hex')}`,
        taskQueue: `${parsed.TASK_QUEUE_PREFIX}tasks`,
        args: [],
      });
    },
    async stopWorker() {
      await worker?.stop();
      worker = undefined;
    },
    account: (accountOptions) => makeAccount({ url: api.url, admin, video: videoBody }, accountOptions),
    async stop() {
      await api.stop();
      await worker?.stop();
      await core.mongo.db.dropDatabase();
      await core.close();
      await simulator.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function keptLog(lines: string[]): Logger {
  return createLogger({
    level: 'debug',
    format: 'json',
    destination: { write: (line) => void lines.push(line) },
  });
}

function shownLog(): Logger {
  return createLogger({
    level: process.env['TEST_LOG'] === undefined ? 'silent' : 'info',
    format: 'pretty',
  });
}

/**
 * Its Schedule fires when the clock of the wall shows a multiple of five minutes: in the middle of some test, which would
 * find its work done by another. A test starts the reconciler itself.
 */
async function pauseReconciler({ client, environment }: Core): Promise<void> {
  await client.schedule.getHandle(`${environment.TASK_QUEUE_PREFIX}reconcile-tasks`).pause();
}

const loopback = '127.0.0.0/8';

/** What a gateway process of a test is started with; also for child processes. */
export async function testEnvironment(
  name: string,
  more: Readonly<Record<string, string>>,
): Promise<NodeJS.ProcessEnv> {
  return {
    HOST: '127.0.0.1',
    PORT: '0',
    MONGODB_URI: databaseUri(name),
    TEMPORAL_ADDRESS: temporalAddress(),
    TASK_QUEUE_PREFIX: `${name}-`,
    SECRETS_KEY: randomBytes(32).toString('base64'),
    SHUTDOWN_DRAIN_SECONDS: '0',
    SHUTDOWN_GRACE_SECONDS: '5',
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: loopback,
    MEDIA_ALLOW_PRIVATE_NETWORKS: loopback,
    ...more,
  };
}

export { testYaml, twoChannelsYaml };
