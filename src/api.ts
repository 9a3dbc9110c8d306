import { createAbandonCreation } from './commands/abandon-creation.ts';
import type { AbandonCreation } from './commands/abandon-creation.ts';
import { defined } from './base/defined.ts';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccess } from './access/access.ts';
import type { Access } from './access/access.ts';
import { createCatalogue } from './routing/catalogue.ts';
import { createChannelSwitches } from './routing/switches.ts';
import { createTryCredential } from './compose/core-channels.ts';
import { createConfigDrafts } from './control/config-drafts.ts';
import { createNodes } from './control/nodes.ts';
import type { Nodes } from './control/nodes.ts';
import { openNodeReports } from './compose/core.ts';
import type { Core } from './compose/core.ts';
import { createAbandonments } from './commands/abandonments.ts';
import type { Abandonments } from './commands/abandonments.ts';
import { createHoldTerms } from './commands/account-terms.ts';
import { createTracedAdmit } from './commands/traced-admission.ts';
import type { AdmissionDeps } from './commands/admission.ts';
import { createActOnTask } from './commands/act-on-task.ts';
import { refundImages } from './commands/refund-task.ts';
import { createTaskService } from './commands/create-task.ts';
import type { CreateTaskDeps } from './commands/create-task.ts';
import { createApp } from './http/app.ts';
import type { AppDeps } from './http/deps.ts';
import { requestLimitsOf } from './http/request-limits.ts';
import { startHttpServer } from './http/server.ts';
import type { ImageLeases } from './images/leases/image-leases.ts';
import type { RequestMedia } from './media/open-media.ts';
import { fileDeps, imageDeps, openImageLeases, openMedia } from './compose/media-api.ts';
import { createRepeats } from './commands/repeats.ts';
import type { Repeats } from './commands/repeats.ts';
import { openImageWorkspaces } from './images/workspace.ts';
import type { ImageWorkspaces } from './images/workspace.ts';
import { createHeadAnchors } from './ledger/anchored-heads.ts';
import { ledgerCollection } from './ledger/collection.ts';
import { openTrends } from './compose/trends.ts';
import { readUpstreamCosts } from './ledger/upstream-costs.ts';
import { ledgerTotalsOf } from './ledger/totals.ts';
import { providers } from './providers/index.ts';
import { readTaskHistory } from './temporal/task-history.ts';
import { createStorageQuota } from './commands/storage-quota.ts';
import { createHealthReader } from './commands/read-health.ts';
import { takeCensus } from './commands/take-census.ts';
import type { StorageQuota } from './commands/storage-quota.ts';
import type { TaskPort } from './commands/task-port.ts';
import { openTaskPort } from './compose/task-port.ts';
import { openVerification } from './compose/verification.ts';

export interface RunningApi {
  readonly url: string;
  /** Says "not ready" and serves on for SHUTDOWN_DRAIN_SECONDS; then answers what is in flight, and resolves. */
  stop(): Promise<void>;
}

/** Runs the HTTP face on HOST and PORT. */
export async function startApi(core: Core): Promise<RunningApi> {
  const { environment } = core;
  const switches = createChannelSwitches({
    states: core.stores.channelStates,
    onError: (err) =>
      core.log.warn({ err }, 'channel switches could not be read; the last known ones stay in force'),
  });
  const nodes = createNodes({
    store: core.stores.nodes,
    channels: () => (core.runningConfig.state().refused === undefined ? core.config().channels : undefined),
    onError: (err) => core.log.warn({ err }, 'the processes of the gateway could not be read'),
  });
  await Promise.all([switches.refresh(), nodes.refresh()]);
  switches.start(core.pace);
  nodes.start(core.pace);
  const media = openMedia(core);
  const access = openAccess(core);
  const workspaces = await openImageWorkspaces(core.now);
  const imageLeases = openImageLeases(core);
  const abandonCreation = createAbandonCreation({ ...core.stores, ledger: core.ledger });
  const abandonments = createAbandonments({
    abandonCreation,
    onError: (err) => core.log.warn({ err }, 'a creation could not be abandoned yet'),
    now: core.now,
  });
  const storage = openStorageQuota(core);
  const owned = { media, workspaces, imageLeases, abandonments, abandonCreation, access, storage, nodes };
  const deps = appDeps(core, switches, owned);
  const app = createApp(deps);
  for (const route of app.routes) route.prepare?.();
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
      await server.close(environment.SHUTDOWN_GRACE_SECONDS * 1000);
      abandonments.stop();
      await Promise.all([imageLeases.stop(), access.stop(), storage.stop(), left.then(() => reports.stop())]);
      await Promise.all([media.close(), workspaces.close()]);
    },
  };
}

interface Outside {
  readonly media: RequestMedia;
  readonly workspaces: ImageWorkspaces;
  readonly imageLeases: ImageLeases;
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
  const catalogue = createCatalogue({
    current: core.config,
    providers,
    fileProvider: core.fileProvider,
    random: core.random,
    isServed: (channel) => owned.nodes.isServed(channel),
    outage: (channel, credential, user) =>
      switches.outage(channel) ?? core.health.circuits.outage({ channel: channel.id, credential, ...user }),
    ...owned.media.input,
  });
  const holdTerms = createHoldTerms(stores.accounts, now);
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
    checkCallbackUrl: (url) => core.outbound.callbacks.checkAddress(url),
    checkMediaUrl: (url) => owned.media.checkAddress(url),
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

function ledgerSums(core: Core): Pick<AppDeps, 'readTrends' | 'readUpstreamCosts'> {
  const collection = ledgerCollection(core.mongo.db);
  return {
    readTrends: openTrends(core),
    readUpstreamCosts: (asked) => readUpstreamCosts(collection, asked),
  };
}

function openConfiguration(
  core: Core,
): Pick<AppDeps, 'drafts' | 'tryCredential' | 'publishConfig' | 'previewConfig'> {
  const { stores, runningConfig: running, environment, now } = core;
  const isExportOnly = environment.CONFIG_DRAFTS === 'export';
  return {
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

/** Followed by a workflow's id: its page in the Temporal UI. Undefined: nobody says where the UI is. */
function workflowsUrlOf({ TEMPORAL_UI_URL: url, TEMPORAL_NAMESPACE: namespace }: Core['environment']) {
  return url === undefined ? undefined : `${url}/namespaces/${encodeURIComponent(namespace)}/workflows/`;
}

function openCreateTask(
  { stores, ledger, tracing, now }: Core,
  { abandonCreation, abandonments, storage }: Outside,
  shared: Pick<CreateTaskDeps, 'catalogue' | 'repeats'> & Pick<AdmissionDeps, 'holdTerms' | 'port'>,
): AppDeps['createTask'] {
  const common = { ...stores, ...shared, storage, now, randomBytes };
  return createTaskService({
    ...common,
    admit: createTracedAdmit({ ...common, ledger, abandonCreation, abandonments }, tracing?.tasks),
  });
}

function openAccess({ stores, secrets, environment, log, now }: Core): Access {
  const access = createAccess({
    ...stores,
    secrets,
    adminToken: environment.ADMIN_TOKEN,
    onError: (err) => log.warn({ err }, 'could not write when keys were last used; it is retried'),
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
    onError: (err) => log.warn({ err }, 'could not write how much accounts have stored; it is retried'),
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
