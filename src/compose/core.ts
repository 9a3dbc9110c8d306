import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Client } from '@temporalio/client';
import type { Logger } from '../observability/log.ts';
import { createMetrics, type Metrics } from '../observability/metrics.ts';
import type { Channels } from '../routing/channels.ts';
import { requireAddresses } from '../config/addresses.ts';
import { openConfigFile } from '../config/config-file.ts';
import { ConfigError } from '../config/config-error.ts';
import { rawEnvironment, type Environment } from '../config/environment.ts';
import type { GatewayConfig } from '../config/gateway-file.ts';
import { createNodeReports, type NodeReports, type NodeReportsDeps } from '../control/node-reports.ts';
import { readService } from '../control/nodes.ts';
import { createPace, type Pace } from '../process/pace.ts';
import type { RunningConfig } from '../control/running-config.ts';
import { openChannels } from './core-channels.ts';
import { openClock } from './core-clock.ts';
import { openMongo } from './core-mongo.ts';
import { noticeReads, openConfig, startConfig } from './core-config.ts';
import { createEndUserNames } from '../store/end-user-names.ts';
import { activityIds } from '../base/queues.ts';
import { createSharedRead } from '../base/shared-read.ts';
import { createHealth, type Health } from '../capacity/capacity.ts';
import { createChargeBook, type ChargeBook } from '../capacity/charge-book.ts';
import { createRenderClock, type RenderClock } from '../capacity/render-clock.ts';
import { createExchangeRecorder, type ExchangeRecorder } from '../flight/exchange-recorder.ts';
import { tracedRecorder } from '../flight/traced-recorder.ts';
import { openTracing, type Tracing } from '../observability/tracing.ts';
import { openOutbound, type Outbound } from '../http-client/index.ts';
import { ensureLedgerIndexes, ledgerCollection } from '../ledger/collection.ts';
import { createLedger, type Ledger } from '../ledger/ledger.ts';
import { createTurnLines } from '../ledger/turn-lines.ts';
import { productVersion } from '../observability/product-version.ts';
import { adapters } from '../providers/index.ts';
import { openNotices, type Notices, type NoticesDeps } from '../notices/open-notices.ts';
import { openResults, type Results } from '../results/results.ts';
import { SealError } from '../access/sealer.ts';
import { openSecrets, type Secrets } from '../access/secrets.ts';
import { createRootKeyStore } from '../store/root-key.ts';
import type { NodeReport } from '../store/nodes.ts';
import { createErrorTerms } from '../store/error-words.ts';
import { createStores, ensureStoreIndexes, type Stores, type StoreSettings } from '../store/stores.ts';
import type { Mongo } from '../store/mongo.ts';
import { createAuditLog, type AuditLog } from '../commands/audit-log.ts';
import { createCircuitReader } from '../observability/read-health.ts';
import type { HostPlaces } from '../capacity/host-places.ts';
import { openCallbackPlaces } from './callback-places.ts';
import { createTemporalClient, temporalSettings, type TemporalSettings } from '../temporal/connection.ts';
import { createFileProviders, type FileProviders } from '../providers/vendor-files/file-provider.ts';
import { wakeActivity } from '../temporal/wake-activity.ts';

export interface Core {
  readonly environment: Environment;
  readonly config: () => GatewayConfig;
  readonly runningConfig: RunningConfig;
  /** The process, written as `<host>/<pid>/<run>`. */
  readonly node: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly mongo: Mongo;
  readonly stores: Stores;
  readonly ledger: Ledger;
  readonly secrets: Secrets;
  readonly channels: Channels;
  readonly fileProvider: FileProviders;
  readonly outbound: Outbound;
  readonly callbackPlaces: HostPlaces;
  readonly health: Health;
  /** Ends the wait of a task's attempt, whichever worker is running it. Never rejects. */
  readonly endStay: (task: string) => Promise<void>;
  readonly renders: RenderClock;
  readonly charges: ChargeBook;
  readonly results: Results;
  readonly recorder: ExchangeRecorder;
  readonly auditLog: AuditLog;
  readonly notices: Notices;
  readonly tracing: Tracing | undefined;
  readonly pace: Pace;
  readonly temporal: TemporalSettings;
  readonly client: Client;
  /**
   * Unix milliseconds by the database's clock, which all processes share. Deadlines, slot leases, circuits and money
   * therefore do not depend on the clocks of machines.
   */
  readonly now: () => number;
  readonly isTimeRight: () => boolean;
  readonly random: () => number;
  close(): Promise<void>;
}

export interface CoreOptions {
  readonly variables?: NodeJS.ProcessEnv;
  /** For tests. Replaces this machine's clock. */
  readonly ownNow?: () => number;
  /** For tests. Replaces the database's clock. */
  readonly databaseNow?: () => number;
}

export async function openCore(
  environment: Environment,
  log: Logger,
  { variables = rawEnvironment(), ...clocks }: CoreOptions = {},
): Promise<Core> {
  const addresses = requireAddresses(environment);
  const file = openConfigFile(environment.GATEWAY_CONFIG, { ...adapters, environment: variables });
  const node = `${hostname()}/${process.pid}/${randomBytes(3).toString('hex')}`;
  const mongo = await openMongo(addresses.mongodbUri, log);
  const clock = await openClock(mongo, log, clocks);
  const { now } = clock;
  const isTimeRight = () => clock.jump() === undefined;
  const secrets = await openCoreSecrets(mongo, addresses.secretsKeys);
  const retention = () => runningConfig.current().retention;
  const stores = createStores(mongo.db, now, { ...storeSealing(secrets), retention });
  await Promise.all([ensureLedgerIndexes(mongo.db), ensureStoreIndexes(stores)]);
  const auditLog = createAuditLog({ ...stores, log, now, randomBytes });
  const own = { ...file, node, now, fileProvider: createFileProviders(now) };
  const runningConfig = await openConfig({ stores, mongo, environment, ...own, log, auditLog });
  const ways = openWaysOut(environment, now);
  const { current: config } = runningConfig;
  const opened = { environment, secrets, ...ways, fileProvider: own.fileProvider, pace: openPace() };
  const shared = { stores, log, now, isTimeRight, config, auditLog, ...opened };
  const metrics = createMetrics({ configVersion: () => shared.config().hash });
  const reads = { ...noticeReads(mongo, shared), ...openLooks(shared), ...later(() => ledger) };
  const notices = openNotices({ ...shared, ...reads, variables, randomBytes });
  const ledger = openBooks(mongo, { ...shared, metrics, notices });
  const temporal = temporalSettings(environment, addresses, payloadKey(environment, secrets));
  const client = createTemporalClient(temporal);
  const health = openHealth({ ...shared, client });
  const channels = openChannels({ ...shared, metrics });
  const results = await openCopies({ ...shared, channels });
  const tracing = await openTracing(environment, { node, log });
  const recorder = openRecorder({ ...shared, tracing });
  const [renders, charges] = [openRenderClock(shared), openChargeBook(shared)];
  await Promise.all([health.circuits.refresh(), renders.refresh()]);
  for (const looking of [health.circuits, renders, charges]) looking.start(shared.pace);
  const stopConfig = startConfig(runningConfig, { ...shared, node });
  const parts = { runningConfig, node, metrics, mongo, ledger, channels, health, renders, charges, results };
  return {
    ...shared,
    ...parts,
    recorder,
    tracing,
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
      await Promise.all([client.connection.close(), mongo.close(), ways.outbound.close()]);
      await tracing?.tracer.close();
    },
  };
}

function openWaysOut(environment: Environment, now: () => number): Pick<Core, 'outbound' | 'callbackPlaces'> {
  const outbound = openOutbound({
    media: environment.MEDIA_ALLOW_PRIVATE_NETWORKS,
    callbacks: environment.WEBHOOK_ALLOW_PRIVATE_NETWORKS,
  });
  return { outbound, callbackPlaces: openCallbackPlaces({ now, random: Math.random }) };
}

function openLooks(
  deps: Pick<Core, 'stores' | 'config' | 'log' | 'now'>,
): Pick<NoticesDeps, 'workers' | 'health'> {
  const { nodes: store, ...stores } = deps.stores;
  const terms = { ms: 1_000, now: deps.now };
  const nodes = {
    list: createSharedRead(() => store.list(), terms),
    lastServed: createSharedRead(() => store.lastServed(), terms),
  };
  const health = createCircuitReader({ ...deps, stores: { ...stores, nodes } });
  return { workers: () => readService(nodes), health };
}

/** Notices are opened before the ledger, so they get the ledger as a function. */
const later = (books: () => Ledger): Pick<NoticesDeps, 'margin' | 'books'> => ({
  margin: (asked) => books().margin(asked),
  books,
});

const openPace = (): Pace => createPace(() => performance.now());

function storeSealing(secrets: Secrets): StoreSettings {
  return {
    ...secrets,
    endUsers: createEndUserNames(secrets.deriveKey('ledger')),
    errorTerms: createErrorTerms(secrets.deriveKey('error-words')),
  };
}

interface BooksDeps extends Pick<Core, 'metrics' | 'secrets' | 'now' | 'isTimeRight'> {
  readonly notices: { readonly watch: Pick<Notices, 'noteBalance'> };
}

function openBooks(mongo: Mongo, { metrics, secrets, notices, now, isTimeRight }: BooksDeps): Ledger {
  return createLedger({
    collection: ledgerCollection(mongo.db),
    lines: createTurnLines(mongo.db, now),
    key: secrets.deriveKey('ledger'),
    meter: metrics,
    now,
    isTimeRight,
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
    onError: (err) => log.warn({ err }, 'the state of this process could not be reported'),
    ...load,
  });
}

function payloadKey({ PAYLOAD_ENCRYPTION }: Environment, secrets: Secrets): Buffer | undefined {
  return PAYLOAD_ENCRYPTION === 'on' ? secrets.deriveKey('payload-codec') : undefined;
}
