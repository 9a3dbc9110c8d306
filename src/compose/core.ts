import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Client } from '@temporalio/client';
import type { Logger } from '../observability/log.ts';
import { createMetrics } from '../observability/metrics.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Channels } from '../routing/channels.ts';
import { requireAddresses } from '../config/addresses.ts';
import { openConfigFile } from '../config/config-file.ts';
import { ConfigError } from '../config/config-error.ts';
import { rawEnvironment } from '../config/environment.ts';
import type { Environment } from '../config/environment.ts';
import type { GatewayConfig } from '../config/gateway-file.ts';
import { createNodeReports } from '../control/node-reports.ts';
import type { NodeReports, NodeReportsDeps } from '../control/node-reports.ts';
import { readService } from '../control/nodes.ts';
import { createPace } from '../process/pace.ts';
import type { Pace } from '../process/pace.ts';
import type { RunningConfig } from '../control/running-config.ts';
import { openChannels } from './core-channels.ts';
import { noticeReads, openConfig, startConfig } from './core-config.ts';
import { createEndUserNames } from '../store/end-user-names.ts';
import type { EndUserNames } from '../store/end-user-names.ts';
import { activityIds } from '../base/queues.ts';
import { createHealth } from '../capacity/capacity.ts';
import { createChargeBook } from '../capacity/charge-book.ts';
import type { ChargeBook } from '../capacity/charge-book.ts';
import { createRenderClock } from '../capacity/render-clock.ts';
import type { RenderClock } from '../capacity/render-clock.ts';
import type { Health } from '../capacity/capacity.ts';
import { createExchangeRecorder } from '../flight/exchange-recorder.ts';
import type { ExchangeRecorder } from '../flight/exchange-recorder.ts';
import { tracedRecorder } from '../flight/traced-recorder.ts';
import { openTracing } from '../observability/tracing.ts';
import type { Tracing } from '../observability/tracing.ts';
import { openOutbound } from '../http-client/index.ts';
import type { Outbound } from '../http-client/index.ts';
import { ensureLedgerIndexes, ledgerCollection } from '../ledger/collection.ts';
import { createLedger } from '../ledger/ledger.ts';
import { createTurnLines } from '../ledger/turn-lines.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { productVersion } from '../observability/product-version.ts';
import { adapters } from '../providers/index.ts';
import { openNotices } from '../notices/open-notices.ts';
import type { Notices, NoticesDeps } from '../notices/open-notices.ts';
import { openResults } from '../results/results.ts';
import type { Results } from '../results/results.ts';
import { SealError } from '../access/sealer.ts';
import { openSecrets } from '../access/secrets.ts';
import type { Secrets } from '../access/secrets.ts';
import { createClockMarks } from '../store/clock-marks.ts';
import { openDatabaseClock } from '../store/database-clock.ts';
import type { DatabaseClock } from '../store/database-clock.ts';
import { connectMongo, MongoAddressError } from '../store/mongo.ts';
import { createRootKeyStore } from '../store/root-key.ts';
import type { NodeReport } from '../store/nodes.ts';
import { createStores, ensureStoreIndexes } from '../store/stores.ts';
import type { Stores } from '../store/stores.ts';
import type { Mongo } from '../store/mongo.ts';
import { createAuditLog } from '../commands/audit-log.ts';
import { createHealthReader } from '../commands/read-health.ts';
import type { AuditLog } from '../commands/audit-log.ts';
import { createTemporalClient, temporalSettings } from '../temporal/connection.ts';
import type { TemporalSettings } from '../temporal/connection.ts';
import type { FileProviders } from '../vendor-files/file-provider.ts';
import { wakeActivity } from '../temporal/wake-activity.ts';

/** What the API and the worker share. */
export interface Core {
  readonly environment: Environment;
  readonly config: () => GatewayConfig;
  readonly runningConfig: RunningConfig;
  /** `<host>/<pid>/<run>` */
  readonly node: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly mongo: Mongo;
  readonly stores: Stores;
  readonly ledger: Ledger;
  readonly secrets: Secrets;
  readonly channels: Channels;
  /** The adapters made from vendor files. */
  readonly fileProvider: FileProviders;
  readonly outbound: Outbound;
  readonly health: Health;
  /** Ends the attempt of a task that waits in a worker, whichever that is. Never rejects. */
  readonly endStay: (task: string) => Promise<void>;
  /** What is known of render times. */
  readonly renders: RenderClock;
  /** What requests have cost lately. */
  readonly charges: ChargeBook;
  /** Our own copies of results. */
  readonly results: Results;
  /** Of what is exchanged with upstreams, for the record of each task. */
  readonly recorder: ExchangeRecorder;
  readonly auditLog: AuditLog;
  /** Notifies operators of what they should know. */
  readonly notices: Notices;
  /** Absent: nobody asks for traces. */
  readonly tracing: Tracing | undefined;
  readonly pace: Pace;
  readonly temporal: TemporalSettings;
  readonly client: Client;
  /**
   * Unix milliseconds: the time of the database, which is that of all processes. What one of them writes and another one
   * compares with its own (deadlines, leases of slots, circuits, money) does not depend on the clocks of their machines.
   */
  readonly now: () => number;
  readonly random: () => number;
  close(): Promise<void>;
}

export interface CoreOptions {
  /** Replace `${NAME}` in gateway.yaml. */
  readonly variables?: NodeJS.ProcessEnv;
  /** Tests only: the clock of this machine. Unix milliseconds. */
  readonly ownNow?: () => number;
  /** Tests only: the time of the database, and so that of the process. */
  readonly databaseNow?: () => number;
}

/** Opens what the environment names. Throws ConfigError with every problem found. */
export async function openCore(
  environment: Environment,
  log: Logger,
  { variables = rawEnvironment(), ...clocks }: CoreOptions = {},
): Promise<Core> {
  const addresses = requireAddresses(environment);
  const file = openConfigFile(environment.GATEWAY_CONFIG, { ...adapters, environment: variables });
  const node = `${hostname()}/${process.pid}/${randomBytes(3).toString('hex')}`;
  const mongo = await openMongo(addresses.mongodbUri);
  const clock = await openClock(mongo, log, clocks);
  const { now } = clock;
  const secrets = await openCoreSecrets(mongo, addresses.secretsKeys);
  const retention = () => runningConfig.current().retention;
  const stores = createStores(mongo.db, now, { ...secrets, endUsers: endUsersOf(secrets), retention });
  await Promise.all([ensureLedgerIndexes(mongo.db), ensureStoreIndexes(stores)]);
  const auditLog = createAuditLog({ ...stores, log, now, randomBytes });
  const runningConfig = await openConfig({ stores, mongo, environment, ...file, node, now, log, auditLog });
  const outbound = openWaysOut(environment);
  const { current: config } = runningConfig;
  const pace = createPace(() => performance.now());
  const shared = { stores, log, now, config, auditLog, environment, secrets, outbound, pace };
  const metrics = createMetrics({ configVersion: () => shared.config().hash });
  const looks = { workers: () => readService(stores.nodes), health: createHealthReader(shared) };
  const margin: Ledger['margin'] = (asked) => ledger.margin(asked);
  const books: NoticesDeps['books'] = () => ledger;
  const reads = noticeReads(mongo, shared);
  const notices = openNotices({ ...shared, ...reads, ...looks, variables, randomBytes, margin, books });
  const ledger = openBooks(mongo, { ...shared, metrics, notices, clock });
  const temporal = temporalSettings(environment, addresses, payloadKey(environment, secrets));
  const client = createTemporalClient(temporal);
  const health = openHealth({ ...shared, client });
  const { channels, fileProvider } = openChannels({ ...shared, metrics });
  const results = await openCopies({ ...shared, channels });
  const tracing = await openTracing(environment, { node, log });
  const recorder = openRecorder({ ...shared, tracing });
  const renders = openRenderClock(shared);
  const charges = openChargeBook(shared);
  await Promise.all([health.circuits.refresh(), renders.refresh()]);
  for (const looking of [health.circuits, renders]) looking.start(pace);
  charges.start();
  const stopConfig = startConfig(runningConfig, { ...shared, node });
  const opened = { runningConfig, node, metrics, mongo, ledger, channels, fileProvider, health };
  const rest = { renders, charges, results, recorder, tracing };
  return {
    ...shared,
    ...opened,
    ...rest,
    endStay: createEndStay(stores, log),
    notices: notices.watch,
    temporal,
    client,
    random: Math.random,
    async close() {
      stopConfig();
      for (const looking of [clock, health.circuits]) looking.stop();
      await Promise.all([renders.stop(), charges.stop(), notices.close()]);
      results.close();
      await Promise.all([client.connection.close(), mongo.close(), outbound.close()]);
      await tracing?.tracer.close();
    },
  };
}

function openWaysOut(environment: Environment): Outbound {
  return openOutbound({
    media: environment.MEDIA_ALLOW_PRIVATE_NETWORKS,
    callbacks: environment.WEBHOOK_ALLOW_PRIVATE_NETWORKS,
  });
}

const clockApartMs = 10_000;

function openClock(
  { db }: Mongo,
  log: Logger,
  { ownNow = () => Date.now(), databaseNow }: Omit<CoreOptions, 'variables'>,
): Promise<DatabaseClock> | DatabaseClock {
  if (databaseNow !== undefined) {
    return { now: databaseNow, jump: () => undefined, stop: () => undefined };
  }
  return openDatabaseClock({
    db,
    marks: createClockMarks(db),
    ownNow,
    onError: (err) => log.warn({ err }, 'the time of the database could not be read'),
    onTime(serverTime) {
      const aheadMs = ownNow() - serverTime;
      if (Math.abs(aheadMs) > clockApartMs) log.warn({ ahead_ms: aheadMs }, clockIsApart);
    },
  });
}

function endUsersOf(secrets: Pick<Secrets, 'deriveKey'>): EndUserNames {
  return createEndUserNames(secrets.deriveKey('ledger'));
}

const clockIsApart =
  'the clock of this process is not that of the database, by which money is written and tasks live: let the network set both';

interface BooksDeps extends Pick<Core, 'metrics' | 'secrets' | 'now'> {
  readonly clock: DatabaseClock;
  readonly notices: { readonly watch: Pick<Notices, 'noteBalance'> };
}

function openBooks(mongo: Mongo, { metrics, secrets, notices, now, clock }: BooksDeps): Ledger {
  return createLedger({
    collection: ledgerCollection(mongo.db),
    lines: createTurnLines(mongo.db, now),
    key: secrets.deriveKey('ledger'),
    meter: metrics,
    now,
    isTimeRight: () => clock.jump() === undefined,
    onBalance: (account, balance) => notices.watch.noteBalance(account, balance),
  });
}

function openHealth(core: Pick<Core, 'stores' | 'client' | 'log' | 'now' | 'config'>): Health {
  const { stores, client, log, now, config } = core;
  return createHealth({
    channelHealth: stores.circuits,
    slotStore: stores.slots,
    config,
    wake: async (task) => void (await wakeActivity(client, { task, activities: [activityIds.submit] })),
    waitingFor: (place, limit) => stores.tasks.waitingFor(place, limit),
    onCircuit: (credential, { state, sign, code, until }) => {
      const open = state === 'open' ? new Date(until).toISOString() : undefined;
      log.warn(
        { credential, sign, code, until: open },
        `a circuit ${state === 'open' ? 'opened' : 'closed'}`,
      );
    },
    onError: (err) => log.warn({ err }, 'channel health could not be read or written'),
    now,
    random: Math.random,
  });
}

function createEndStay({ wakes }: Stores, log: Logger): Core['endStay'] {
  return (task) =>
    wakes.add({ task, id: randomUUID() }).catch((err: unknown) => {
      log.warn({ task, err }, 'could not wake an attempt that waits');
    });
}

type CopiesDeps = Pick<
  Core,
  'channels' | 'outbound' | 'config' | 'environment' | 'stores' | 'secrets' | 'log' | 'now'
>;

function openCopies({ config, secrets, ...deps }: CopiesDeps) {
  return openResults({ ...deps, config: config().results, key: secrets.deriveKey('media-link') });
}

function openRecorder({
  stores: { exchanges, requests },
  tracing,
  ...rest
}: Pick<Core, 'stores' | 'log' | 'now' | 'tracing'>): ExchangeRecorder {
  const findRequest = (task: string) => requests.find(task);
  return tracedRecorder(createExchangeRecorder({ ...exchanges, ...rest, findRequest }), tracing?.tasks);
}

function openRenderClock({ stores, log, now }: Pick<Core, 'stores' | 'log' | 'now'>): RenderClock {
  return createRenderClock({
    store: stores.renderTimes,
    now,
    random: Math.random,
    onError: (err) => log.warn({ err }, 'render times could not be read or written'),
  });
}

function openChargeBook({ stores, log }: Pick<Core, 'stores' | 'log'>): ChargeBook {
  return createChargeBook({
    store: stores.shapeCharges,
    onError: (err) => log.warn({ err }, 'charges could not be saved for later estimates'),
  });
}

async function openMongo(uri: string): Promise<Mongo> {
  try {
    return await connectMongo(uri, { appName: 'mediary' });
  } catch (error) {
    if (!(error instanceof MongoAddressError)) throw error;
    throw new ConfigError('The environment', [`MONGODB_URI: ${error.message}`]);
  }
}

async function openCoreSecrets(mongo: Mongo, keys: readonly Buffer[]): Promise<Secrets> {
  try {
    return await openSecrets(keys, createRootKeyStore(mongo.db));
  } catch (error) {
    await mongo.close();
    if (error instanceof SealError)
      throw new ConfigError('The environment', [`SECRETS_KEY: ${error.message}`]);
    throw error;
  }
}

/** What this process says of itself as an API or a worker. */
export function openNodeReports(
  { stores, node, runningConfig, health, log, now }: Core,
  role: Pick<NodeReportsDeps, 'inFlight' | 'channels'> & Pick<NodeReport, 'kind'>,
): NodeReports {
  const { kind, ...load } = role;
  return createNodeReports({
    store: stores.nodes,
    identity: { id: `${kind}/${node}`, kind, version: productVersion(), since: now() },
    config: runningConfig.state,
    unreached: () => health.circuits.unreached(),
    onError: (err) => log.warn({ err }, 'could not report this process'),
    ...load,
  });
}

function payloadKey({ PAYLOAD_ENCRYPTION }: Environment, secrets: Secrets): Buffer | undefined {
  return PAYLOAD_ENCRYPTION === 'on' ? secrets.deriveKey('payload-codec') : undefined;
}
