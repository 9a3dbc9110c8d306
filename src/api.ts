import { createAbandonCreation, type AbandonCreation } from './commands/abandon-creation.ts';
import { defined } from './base/defined.ts';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccess, type Access } from './access/access.ts';
import { createCatalogue } from './routing/catalogue.ts';
import { createChannelSwitches } from './routing/switches.ts';
import { withStorageForTask } from './routing/storage-room.ts';
import { createTryCredential } from './compose/core-channels.ts';
import { additionTo } from './control/catalogue-additions.ts';
import { loadExampleCatalogue } from './config/example-catalogue.ts';
import { createConfigDrafts } from './control/config-drafts.ts';
import type { Nodes } from './control/nodes.ts';
import { openNodeReports, type Core } from './compose/core.ts';
import { createAbandonments, type Abandonments } from './commands/abandonments.ts';
import { webhookSecretsOf } from './access/webhook-secrets.ts';
import { createTryCallback } from './notices/try-callback.ts';
import { createAccountTerms } from './commands/account-terms.ts';
import { createTracedAdmit } from './commands/traced-admission.ts';
import type { AdmissionDeps } from './commands/admission.ts';
import { createActOnTask } from './commands/act-on-task.ts';
import { refundImages } from './commands/refund-task.ts';
import { createTaskService, type CreateTaskDeps } from './commands/create-task.ts';
import { createApp } from './http/app.ts';
import type { AppDeps } from './http/deps.ts';
import { requestLimitsOf } from './http/request-limits.ts';
import { startHttpServer } from './http/server.ts';
import { fileDeps, imageDeps, openImageParts, type ImageParts } from './compose/media-api.ts';
import { createRepeats, type Repeats } from './commands/repeats.ts';
import { createHeadAnchors } from './ledger/anchored-heads.ts';
import { ledgerCollection } from './ledger/collection.ts';
import { openTrends } from './compose/trends.ts';
import { readUpstreamCosts } from './ledger/upstream-costs.ts';
import { ledgerTotalsOf } from './ledger/totals.ts';
import { providers } from './providers/index.ts';
import { readTaskHistory } from './temporal/task-history.ts';
import { createStorageQuota, type StorageQuota } from './commands/storage-quota.ts';
import { createHealthReader } from './observability/read-health.ts';
import { takeCensus } from './observability/take-census.ts';
import type { TaskPort } from './commands/task-port.ts';
import { openNodes } from './compose/nodes.ts';
import { openTaskPort } from './compose/task-port.ts';
import { openVerification } from './compose/verification.ts';

export interface RunningApi {
  readonly url: string;
  /**
   * Reports "not ready", but keeps serving for SHUTDOWN_DRAIN_SECONDS. Then finishes the requests in flight and retries
   * charges that could not be written.
   */
  stop(): Promise<void>;
}

/**
 * If `isPrepared` is set, startup spends a second of CPU time on work that would otherwise block the event loop during
 * the first request.
 */
export async function startApi(core: Core, { isPrepared = false } = {}): Promise<RunningApi> {
  const { environment } = core;
  const switches = createChannelSwitches({
    states: core.stores.channelStates,
    onError: (err) =>
      core.log.warn({ err }, 'channel switches could not be read; the last known switches stay active'),
  });
  const nodes = openNodes(core);
  await Promise.all([switches.refresh(), nodes.refresh()]);
  switches.start(core.pace);
  nodes.start(core.pace);
  const images = await openImageParts(core);
  const access = openAccess(core);
  const abandonCreation = createAbandonCreation({ ...core.stores, ledger: core.ledger });
  const abandonments = createAbandonments({
    abandonCreation,
    onError: (err) => core.log.warn({ err }, 'the creation of a task could not be abandoned yet'),
    now: core.now,
  });
  const storage = openStorageQuota(core);
  const owned = { ...images, abandonments, abandonCreation, access, storage, nodes };
  const app = createApp(appDeps(core, switches, owned));
  if (isPrepared) for (const route of app.routes) route.prepare?.();
  const server = await startHttpServer({
    app,
    host: environment.HOST,
    port: environment.PORT,
    answerBytesPerSecondMin: environment.ANSWER_BYTES_PER_SECOND_MIN,
    ...defined({ connectionsMax: environment.CONNECTIONS_MAX }),
  });
  const reports = openNodeReports(core, { kind: 'api', inFlight: app.inFlight });
  core.runningConfig.onChange(() => reports.report());
  await reports.start();
  return {
    url: server.url,
    async stop() {
      app.leave();
      const left = reports.leave();
      await sleep(environment.SHUTDOWN_DRAIN_SECONDS * 1000);
      switches.stop();
      nodes.stop();
      const graceMs = environment.SHUTDOWN_GRACE_SECONDS * 1000;
      const closingAt = performance.now();
      await server.close(graceMs);
      await images.bills.stop(Math.max(0, graceMs - (performance.now() - closingAt)));
      abandonments.stop();
      await Promise.all([
        images.imageLeases.stop(),
        access.stop(),
        storage.stop(),
        left.then(() => reports.stop()),
      ]);
      await Promise.all([images.media.close(), images.workspaces.close()]);
    },
  };
}

interface Outside extends ImageParts {
  readonly abandonments: Abandonments;
  readonly abandonCreation: AbandonCreation;
  readonly access: Access;
  readonly storage: StorageQuota;
  readonly nodes: Nodes;
}

type Switches = ReturnType<typeof createChannelSwitches>;

function openActs(
  { stores, ledger, config, now }: Core,
  port: TaskPort,
): Pick<AppDeps, 'actOnTask' | 'refundImages'> {
  const currency = () => config().currency;
  return {
    actOnTask: createActOnTask({ ...stores, ledger, port, currency, now, randomBytes }),
    refundImages: (id, input) => refundImages(id, input, { ledger, currency }),
  };
}

function appDeps(core: Core, switches: Switches, owned: Outside): AppDeps {
  const { stores, environment, secrets, now } = core;
  const { holdTerms, factorsOf } = createAccountTerms(stores.accounts, now);
  const catalogue = createCatalogue({
    current: core.config,
    factorsOf,
    providers,
    fileProvider: core.fileProvider,
    random: core.random,
    isServed: (channel) => owned.nodes.isServed(channel),
    outage: (channel, credential, user) =>
      switches.outage(channel) ?? core.health.circuits.outage({ channel: channel.id, credential, ...user }),
    ...owned.media.input,
  });
  const repeats = openRepeats(core);
  const port = openTaskPort(core);
  return {
    ...stores,
    log: core.log,
    metrics: core.metrics,
    ...defined({ tracer: core.tracing?.tracer }),
    now,
    pace: core.pace,
    randomBytes,
    ...owned.access,
    secrets,
    catalogue,
    renders: core.renders,
    charges: core.charges,
    channels: core.channels,
    port,
    auditLog: core.auditLog,
    taskHistory: (task) => readTaskHistory(core.client, task),
    ledger: core.ledger,
    holdTerms,
    verifyLedger: openVerification(core),
    ledgerHeads: createHeadAnchors(core.mongo.db, core.secrets.deriveKey('ledger')),
    ...ledgerSums(core),
    ...openActs(core, port),
    repeats,
    createTask: openCreateTask(core, owned, { catalogue, repeats, holdTerms, port }),
    images: imageDeps(core, owned, { catalogue, repeats, holdTerms }),
    ...defined({ storedFiles: fileDeps(core, owned) }),
    mediaUrl: core.results.mediaUrl,
    ...(core.results.kept === undefined ? {} : { keptResults: { ...core.results.kept, now } }),
    channelSwitches: switches,
    overrideCircuit: (target, order) => core.health.circuits.override(target, order),
    readHealth: createHealthReader(core),
    ...addressChecks(core, owned),
    takeCensus: () => takeCensus({ ...core, ledgerTotals: () => ledgerTotalsOf(core.mongo.db) }),
    testNotices: core.notices.test,
    noteBalance: core.notices.noteBalance,
    nodes: owned.nodes,
    ...openConfiguration(core),
    pingMongo: async () => void (await core.mongo.db.command({ ping: 1 })),
    limits: requestLimitsOf(environment),
    trustedProxies: environment.TRUSTED_PROXIES,
    ...addressesOf(core),
  };
}

const billFormats = new Map(
  Object.entries(providers).flatMap(([name, { bill }]) =>
    bill === undefined ? [] : [[name, bill] as const],
  ),
);

function ledgerSums(core: Core): Pick<AppDeps, 'billFormat' | 'readTrends' | 'readUpstreamCosts'> {
  const collection = ledgerCollection(core.mongo.db);
  return {
    readTrends: openTrends(core),
    billFormat: (provider) => billFormats.get(provider),
    readUpstreamCosts: (asked) => readUpstreamCosts(collection, asked),
  };
}

function openConfiguration(
  core: Core,
): Pick<
  AppDeps,
  'drafts' | 'exampleCatalogue' | 'catalogueAddition' | 'tryCredential' | 'publishConfig' | 'previewConfig'
> {
  const { stores, runningConfig: running, environment, now } = core;
  const isExportOnly = environment.CONFIG_DRAFTS === 'export';
  return {
    exampleCatalogue: loadExampleCatalogue,
    catalogueAddition: async (text, addition) => additionTo(text, addition, await loadExampleCatalogue()),
    drafts: createConfigDrafts({ ...stores, running, isExportOnly, now, randomBytes }),
    tryCredential: createTryCredential(core),
    publishConfig: (by, reason) => running.publish(by, reason),
    previewConfig: () => running.preview(),
  };
}

function addressesOf({
  environment,
  results,
}: Core): Pick<AppDeps, 'publicUrl' | 'workflowsUrl' | 'unreachableLinks'> {
  return defined({
    publicUrl: environment.PUBLIC_URL,
    workflowsUrl: workflowsUrlOf(environment),
    unreachableLinks: results.kept?.unreachableLinks,
  });
}

function workflowsUrlOf({ TEMPORAL_UI_URL: url, TEMPORAL_NAMESPACE: namespace }: Core['environment']) {
  return url === undefined ? undefined : `${url}/namespaces/${encodeURIComponent(namespace)}/workflows/`;
}

function addressChecks(
  core: Core,
  { media }: Pick<Outside, 'media'>,
): Pick<AppDeps, 'checkCallbackUrl' | 'checkMediaUrl' | 'tryCallback'> {
  const { callbacks } = core.outbound;
  const places = core.callbackPlaces;
  return {
    checkCallbackUrl: (url) => callbacks.checkAddress(url),
    checkMediaUrl: (url) => media.checkAddress(url),
    tryCallback: createTryCallback({
      takePlace: (origin, account) => places.takeFree(origin, account),
      webhookSecrets: webhookSecretsOf(core),
      deliver: (delivery) => callbacks.deliver(delivery),
      now: core.now,
      randomBytes,
    }),
  };
}

function openCreateTask(
  { stores, ledger, tracing, channels, results, now }: Core,
  { abandonCreation, abandonments, storage }: Outside,
  shared: Pick<CreateTaskDeps, 'catalogue' | 'repeats'> & Pick<AdmissionDeps, 'holdTerms' | 'port'>,
): AppDeps['createTask'] {
  const common = { ...stores, ...shared, storage, now, randomBytes };
  return createTaskService({
    ...common,
    withStorage: (plan, kind) => withStorageForTask(plan, kind, { channels, ...results }),
    admit: createTracedAdmit({ ...common, ledger, abandonCreation, abandonments }, tracing?.tasks),
  });
}

function openAccess({ stores, secrets, environment, log, now }: Core): Access {
  const access = createAccess({
    ...stores,
    secrets,
    adminToken: environment.ADMIN_TOKEN,
    onError: (err) =>
      log.warn({ err }, 'the times when keys were last used could not be saved; retrying later'),
    now,
    randomBytes,
  });
  access.start();
  return access;
}

function openStorageQuota({ stores, environment, log, now }: Core): StorageQuota {
  const storage = createStorageQuota({
    store: stores.storedBytes,
    bytesMax: environment.ACCOUNT_STORED_BYTES_MAX,
    onError: (err) => log.warn({ err }, 'the storage usage of accounts could not be saved; retrying later'),
    now,
  });
  storage.start();
  return storage;
}

function openRepeats({ environment, stores, ledger, secrets, log, now }: Core): Repeats {
  return createRepeats({
    store: stores.repeats,
    isPaid: async (made) => (await ledger.entriesOfTask(made)).some(({ kind }) => kind === 'settle'),
    keptBytesMax: environment.IMAGE_KEPT_BYTES_MAX,
    secret: secrets.deriveKey('idempotency-hmac'),
    log,
    now,
  });
}
