import { testYaml, twoChannelsYaml } from './test-yaml.ts';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReconcileReport } from '../../activities/types.ts';
import { readEnvironment, type Environment } from '../../src/config/environment.ts';
import { openCore, type Core } from '../../src/compose/core.ts';
import { createLogger, type Logger } from '../../src/observability/log.ts';
import { startApi } from '../../src/api.ts';
import type { Control } from '../../workshop/simulator/control.ts';
import type { CreateDialect } from '../../workshop/simulator/dialect.ts';
import { startSimulator } from '../../workshop/simulator/simulator.ts';
import { installRuntime } from '../../src/temporal/install-runtime.ts';
import { startWorker } from '../../src/worker.ts';
import { adminCaller, caller, makeAccount, underOneKey } from './client.ts';
import type { AccountOptions, AdminCall, Call, TestAccount } from './client.ts';
import { databaseUri, temporalAddress } from './run-servers.ts';

/** A complete gateway in this process, on the run's Temporal and MongoDB. Tests call it over HTTP, as users do. */
export interface TestGateway {
  readonly url: string;
  readonly simulator: Control;
  readonly simulatorUrl: string;
  readonly core: Core;
  readonly clock: { aheadMs: number; stoppedAt?: number | undefined };
  readonly logLines: readonly string[];
  readonly adminToken: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly call: Call;
  readonly admin: AdminCall;
  /** The account's create requests carry an idempotency key and are repeated while the gateway is busy. */
  account(options?: AccountOptions): Promise<TestAccount>;
  /** Runs the reconciler with the clock so far ahead that it considers unchanged tasks abandoned. */
  reconcile(): Promise<ReconcileReport>;
  stopWorker(): Promise<void>;
  stop(): Promise<void>;
}

export interface TestGatewayOptions {
  /** In this text, `${SIMULATOR_URL}` stands for the simulator's URL. Defaults to `testYaml`. */
  readonly yaml?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly renderSeconds?: number;
  readonly moreDialects?: readonly CreateDialect[];
  readonly worker?: boolean;
  readonly watchesLog?: boolean;
}

export const videoBody = {
  model: 'seedance',
  prompt: 'a paper boat on a rainy street',
  duration: 5,
  resolution: '720p',
  ratio: '16:9',
} as const;

/**
 * The tokens of a 5-second 720p 16:9 video by the documented formula: 1280 × 720 × 121 / 1024. A million tokens cost
 * 7.00.
 */
export const videoTokens = 108_900;
export const videoCharge = '0.762300';

/** Exceeds the time after which the reconciler considers an unchanged task abandoned. */
const abandonedAfterMs = 3 * 60_000;

/** Temporal allows one runtime per process, even if a test file starts multiple gateways. */
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
  const clock: TestGateway['clock'] = { aheadMs: 0 };
  const now = (): number => clock.stoppedAt ?? Date.now() + clock.aheadMs;
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
    async account(accountOptions) {
      const made = await makeAccount({ url: api.url, admin, video: videoBody }, accountOptions);
      const create: TestAccount['create'] = (body, headers) =>
        underOneKey((key) => made.create(body, { ...key, ...headers }));
      return { ...made, create };
    },
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
  return createLogger({ level: process.env['TEST_LOG'] === undefined ? 'silent' : 'info', format: 'pretty' });
}

/** The reconciler's schedule could fire in the middle of a test, so tests run the reconciler themselves. */
async function pauseReconciler({ client, environment }: Core): Promise<void> {
  await client.schedule.getHandle(`${environment.TASK_QUEUE_PREFIX}reconcile-tasks`).pause();
}

const loopback = '127.0.0.0/8';

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
