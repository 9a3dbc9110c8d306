import { createAbandonCreation } from './tasks/abandon-creation.ts';
import type { AbandonCreation } from './tasks/abandon-creation.ts';
import { defined } from './domain/defined.ts';
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { createActIds } from './access/act-ids.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccess } from './access/access.ts';
import type { Access } from './access/access.ts';
import { createCatalogue } from './routing/catalogue.ts';
import { createChannelSwitches } from './routing/switches.ts';
import { createNodes } from './control/nodes.ts';
import type { Nodes } from './control/nodes.ts';
import { openNodeReports } from './core.ts';
import type { Core } from './core.ts';
import { createAbandonments } from './tasks/abandonments.ts';
import type { Abandonments } from './tasks/abandonments.ts';
import { createOverdraftLimits } from './tasks/account-terms.ts';
import { createTracedAdmit } from './tasks/traced-admission.ts';
import type { AdmissionDeps } from './tasks/admission.ts';
import { createActOnTask } from './tasks/act-on-task.ts';
import { createTaskService } from './tasks/create-task.ts';
import type { CreateTaskDeps } from './tasks/create-task.ts';
import { createGuardedClient } from './http-client/index.ts';
import { createApp } from './http/app.ts';
import type { AppDeps, ImageRouteDeps } from './http/deps.ts';
import type { RequestLimits } from './http/request-limits.ts';
import { startHttpServer } from './http/server.ts';
import { createCloseHold } from './images/leases/close-hold.ts';
import { createImageGate } from './capacity/image-gate.ts';
import { createImageLeases } from './images/leases/image-leases.ts';
import type { ImageLeases } from './images/leases/image-leases.ts';
import { createImageService } from './images/create-images.ts';
import type { CreateImagesDeps } from './images/create-images.ts';
import { createTracedGenerate } from './images/traced-generate.ts';
import { createResultForms } from './images/result-form.ts';
import type { GenerateDeps } from './images/generate.ts';
import { createRepeats } from './tasks/repeats.ts';
import type { Repeats } from './tasks/repeats.ts';
import { openImageWorkspaces } from './images/workspace.ts';
import type { ImageWorkspaces } from './images/workspace.ts';
import { identifyProcess, isSameProcessAlive } from './observability/process-identity.ts';
import { runLedgerVerification } from './ledger/run-verification.ts';
import { providers, vendorImageFields } from './providers/index.ts';
import { readTaskHistory } from './temporal/task-history.ts';
import { createStorageQuota } from './tasks/storage-quota.ts';
import type { StorageQuota } from './tasks/storage-quota.ts';
import type { TaskPort } from './tasks/task-port.ts';
import { createTaskClient } from './temporal/task-client.ts';
import { createWorkflowLookup } from './temporal/workflow-lookup.ts';

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
    onError: (err) => core.log.warn({ err }, 'the processes of the gateway could not be read'),
  });
  await Promise.all([switches.refresh(), nodes.refresh()]);
  switches.start();
  nodes.start();
  const guarded = {
    webhooks: createGuardedClient({ allowPrivateNetworks: environment.WEBHOOK_ALLOW_PRIVATE_NETWORKS }),
    media: createGuardedClient({ allowPrivateNetworks: environment.MEDIA_ALLOW_PRIVATE_NETWORKS }),
  };
  const access = openAccess(core);
  const workspaces = await openImageWorkspaces({ now: core.now, identifyProcess, isSameProcessAlive });
  const imageLeases = openImageLeases(core);
  const abandonCreation = createAbandonCreation({ ...core.stores, ledger: core.ledger });
  const abandonments = createAbandonments({
    abandonCreation,
    onError: (err) => core.log.warn({ err }, 'a creation could not be abandoned yet'),
    now: core.now,
  });
  const storage = openStorageQuota(core);
  const owned = { workspaces, imageLeases, abandonments, abandonCreation, access, storage, nodes };
  const deps = appDeps(core, switches, { ...guarded, ...owned });
  const app = createApp(deps);
  for (const route of app.routes) route.prepare?.();
  const server = await startHttpServer({
    app,
    host: environment.HOST,
    port: environment.PORT,
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
      await Promise.all([guarded.webhooks.close(), guarded.media.close(), workspaces.close()]);
    },
  };
}

interface Outside {
  readonly webhooks: Guarded;
  readonly media: Guarded;
  readonly workspaces: ImageWorkspaces;
  readonly imageLeases: ImageLeases;
  readonly abandonments: Abandonments;
  readonly abandonCreation: AbandonCreation;
  readonly access: Access;
  readonly storage: StorageQuota;
  readonly nodes: Nodes;
}

type Switches = ReturnType<typeof createChannelSwitches>;
type Guarded = ReturnType<typeof createGuardedClient>;

function openTaskPort({ client, environment, secrets, now, endStay }: Core): TaskPort {
  const { newId: newActId } = createActIds(secrets.deriveKey('act-ids'));
  return createTaskClient({ client, queuePrefix: environment.TASK_QUEUE_PREFIX, now, newActId, endStay });
}

function openActOnTask({ stores, ledger, config, now }: Core, port: TaskPort): AppDeps['actOnTask'] {
  const currency = () => config().currency;
  return createActOnTask({ ...stores, ledger, port, currency, now, randomBytes });
}

function appDeps(core: Core, switches: Switches, guarded: Outside): AppDeps {
  const { stores, environment, secrets, now } = core;
  const { auth, operatorAuth } = guarded.access;
  const catalogue = createCatalogue({
    current: core.config,
    providers,
    random: core.random,
    isServed: (channel) => guarded.nodes.isServed(channel),
    outage: (channel, credential, model) =>
      switches.outage(channel) ?? core.health.circuits.outage({ channel: channel.id, credential, model }),
  });
  const overdraftLimit = createOverdraftLimits(stores.accounts, now);
  const repeats = openRepeats(core);
  const port = openTaskPort(core);
  return {
    ...stores,
    log: core.log,
    metrics: core.metrics,
    ...defined({ tracer: core.tracing?.tracer }),
    now,
    randomBytes,
    auth,
    secrets,
    catalogue,
    renders: core.renders,
    channels: core.channels,
    port,
    auditLog: core.auditLog,
    taskHistory: (task) => readTaskHistory(core.client, task),
    ledger: core.ledger,
    verifyLedger: openVerification(core),
    actOnTask: openActOnTask(core, port),
    createTask: openCreateTask(core, guarded, { catalogue, repeats, overdraftLimit, port }),
    images: imageDeps(core, guarded, { catalogue, repeats, overdraftLimit }),
    mediaUrl: core.results.mediaUrl,
    ...(core.results.kept === undefined ? {} : { keptResults: { ...core.results.kept, now } }),
    channelSwitches: switches,
    overrideCircuit: (target, order) => core.health.circuits.override(target, order),
    channelHealth: ({ id }) => core.health.circuits.describe(id),
    checkCallbackUrl: (url) => guarded.webhooks.checkAddress(url),
    checkMediaUrl: (url) => guarded.media.checkAddress(url),
    testNotices: core.notices.test,
    nodes: guarded.nodes,
    publishConfig: (by) => core.runningConfig.publish(by),
    pingMongo: async () => void (await core.mongo.db.command({ ping: 1 })),
    limits: requestLimits(environment),
    trustedProxies: environment.TRUSTED_PROXIES,
    ...defined({ operatorAuth, publicUrl: environment.PUBLIC_URL }),
  };
}

function openVerification({ mongo, client, stores, notices, environment }: Core): AppDeps['verifyLedger'] {
  const workflows = createWorkflowLookup(client, environment.TASK_QUEUE_PREFIX);
  return async (options) => {
    const result = await runLedgerVerification({
      ...options,
      db: mongo.db,
      workflows,
      leases: stores.imageLeases,
    });
    await notices.noteVerification(result.violationCount);
    return result;
  };
}

function openCreateTask(
  { stores, ledger, tracing, now }: Core,
  { abandonCreation, abandonments, storage }: Outside,
  shared: Pick<CreateTaskDeps, 'catalogue' | 'repeats'> & Pick<AdmissionDeps, 'overdraftLimit' | 'port'>,
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

function requestLimits(environment: Core['environment']): RequestLimits {
  return {
    bodiesBytesMax: environment.BODIES_BYTES_MAX,
    uploadsBytesMax: environment.UPLOADS_BYTES_MAX,
    addressRequestsPerSecond: environment.ADDRESS_REQUESTS_PER_SECOND,
    uploadBytesPerSecondMin: environment.UPLOAD_BYTES_PER_SECOND_MIN,
    keyRequestsPerMinute: environment.KEY_REQUESTS_PER_MINUTE,
    keyConcurrentRequests: environment.KEY_CONCURRENT_REQUESTS,
    createsAtOnce: environment.CREATES_AT_ONCE_MAX,
    accountCreatesAtOnce: environment.ACCOUNT_CREATES_AT_ONCE_MAX,
  };
}

function openImageLeases({ stores, ledger, log, now }: Core): ImageLeases {
  const leases = stores.imageLeases;
  return createImageLeases({
    leases,
    closeHold: createCloseHold({ leases, ledger }),
    process: `${hostname()}/${process.pid}`,
    now,
    randomBytes,
    onError: (err) => log.warn({ err }, 'could not write an image lease'),
  });
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

function imageDeps(
  core: Core,
  { media, workspaces, imageLeases }: Outside,
  shared: Pick<CreateImagesDeps, 'catalogue' | 'repeats'> & Pick<GenerateDeps, 'overdraftLimit'>,
): ImageRouteDeps {
  const { environment, ledger, channels, health, log } = core;
  const { catalogue, repeats, overdraftLimit } = shared;
  const limits = {
    bodyBytesMax: environment.IMAGE_BODY_BYTES_MAX,
    filesMax: environment.IMAGE_FILES_MAX,
    pixelsMax: environment.IMAGE_PIXELS_MAX,
  };
  const gate = createImageGate(health);
  const { openMedia, openStored, kept } = core.results;
  const forms = createResultForms({ openMedia, openStored, ...defined({ keepImages: kept?.keepImages }) });
  const create = createImageService({
    catalogue,
    channels,
    generate: createTracedGenerate(
      { channels, ledger, imageLeases, overdraftLimit, log, gate },
      core.tracing?.tasks,
    ),
    repeats,
    workspaces,
    openMedia: (fetch) => media.openMedia(fetch),
    forms,
    pixelsMax: limits.pixelsMax,
    newImage: () => imageLeases.newImage(),
  });
  return { create, limits, workspaces, asData: forms.asData, vendorFields: vendorImageFields };
}
