import { testLedgerKey, testSealing } from './sealing.ts';
import { randomBytes } from 'node:crypto';
import type { Db } from 'mongodb';
import { afterAll, beforeAll, expect } from 'vitest';
import { createAccess } from '../../src/access/access.ts';
import { createChannels } from '../../src/routing/channels.ts';
import { createCatalogue } from '../../src/routing/catalogue.ts';
import { createConfigDrafts } from '../../src/control/config-drafts.ts';
import { createNodes } from '../../src/control/nodes.ts';
import { createCircuits } from '../../src/capacity/circuits.ts';
import { createChannelSwitches } from '../../src/routing/switches.ts';
import { additionTo } from '../../src/control/catalogue-additions.ts';
import { loadExampleCatalogue } from '../../src/config/example-catalogue.ts';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';
import { createAbandonments } from '../../src/commands/abandonments.ts';
import { countForHealth, readHealth } from '../../src/observability/read-health.ts';
import { webhookSecretsOf } from '../../src/access/webhook-secrets.ts';
import { createTryCallback } from '../../src/notices/try-callback.ts';
import { openCallbackPlaces } from '../../src/compose/callback-places.ts';
import { createGuardedClient } from '../../src/http-client/guarded-client.ts';
import { createAccountTerms } from '../../src/commands/account-terms.ts';
import { createAdmit } from '../../src/commands/admission.ts';
import { createStorageQuota } from '../../src/commands/storage-quota.ts';
import { createReadTrends } from '../../src/observability/read-trends.ts';
import { createRepeats } from '../../src/commands/repeats.ts';
import { createAuditLog } from '../../src/commands/audit-log.ts';
import { refundImages } from '../../src/commands/refund-task.ts';
import { createActOnTask } from '../../src/commands/act-on-task.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { createTaskService } from '../../src/commands/create-task.ts';
import { createAbandonCreation } from '../../src/commands/abandon-creation.ts';
import { everyField } from '../../src/models/model-facts.ts';
import { noMediaUrl } from '../../src/models/stored-media.ts';
import { createApp } from '../../src/http/app.ts';
import type { AppDeps } from '../../src/http/deps.ts';
import { requestLimitsOf, type RequestLimits } from '../../src/http/request-limits.ts';
import { startHttpServer, type RunningHttpServer } from '../../src/http/server.ts';
import { openImageWorkspaces } from '../../src/images/workspace.ts';
import { ensureLedgerIndexes, ledgerCollection } from '../../src/ledger/collection.ts';
import { createHeadAnchors } from '../../src/ledger/anchored-heads.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { readLedgerFlows } from '../../src/ledger/flows.ts';
import { readUpstreamCosts } from '../../src/ledger/upstream-costs.ts';
import { readLedgerTotals } from '../../src/ledger/totals.ts';
import { takeCensus } from '../../src/observability/take-census.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { createLogger } from '../../src/observability/log.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { createSecrets } from '../../src/access/secrets.ts';
import { connectMongo } from '../../src/store/mongo.ts';
import { createStores, ensureStoreIndexes, type Stores } from '../../src/store/stores.ts';
import { adminCaller, caller, makeAccount } from './client.ts';
import type { AccountOptions, AdminCall, Call, TestAccount } from './client.ts';
import { watchErrorCodes } from './declared-codes.ts';
import { databaseUri } from './run-servers.ts';
import { taskDriver, type TaskDriver } from './task-records.ts';
import { createTestPort, type TestPort } from './test-port.ts';
import { testOrigin } from './test-origin.ts';

export interface HttpWorld extends Server {
  readonly deps: AppDeps;
  readonly stores: Stores;
  readonly db: Db;
  readonly port: TestPort;
  readonly drive: TaskDriver;
  readonly logLines: string[];
  noteUses(): Promise<void>;
  readonly clock: { aheadMs: number; stoppedAt?: number | undefined };
  configure(change?: (yaml: string) => string): void;
  startNode(change?: NodeChange): Promise<Server>;
  newAccount(options?: AccountOptions): Promise<TestAccount>;
}

export interface Server {
  readonly deps: AppDeps;
  readonly url: string;
  readonly call: Call;
  readonly admin: AdminCall;
  close(graceMs: number): Promise<void>;
}

export const adminToken = 'the-operators-of-this-test-of-http';

export const videoBody = { model: 'clip', prompt: 'a paper boat on a rainy street' } as const;

const yaml = `
currency: USD
channels:
  - { id: one, provider: test, base_url: "http://127.0.0.1:1", credentials: [{ id: a, api_key: k }], priority: 2, models: { clip: { upstream: u }, plain: { upstream: p }, picture: { upstream: i } } }
  - { id: two, provider: test, base_url: "http://127.0.0.1:1", credentials: [{ id: b, api_key: k }], models: { clip: { upstream: u } } }
  - { id: three, provider: test, base_url: "http://127.0.0.1:1", credentials: [{ id: c, api_key: k }], models: { other: { upstream: o } } }
models:
  - id: clip
    kind: video
    input_types: [text_to_video, first_last_frame, reference]
    resolutions: [720p, 480p, 1080p]
    ratios: ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9", adaptive]
    durations: { min: 2, max: 12, default: 5, auto: true }
    inputs: { images: { max: 9 }, videos: { max: 3 }, audios: { max: 3 } }
    unsupported: { ratio: ignore }
    expected_seconds: 60
    price:
      lines:
        - { measure: second, when: { resolution: [1080p] }, price: "0.20" }
        - { measure: second, price: "0.10" }
  - { id: plain, kind: video, unsupported: { resolution: ignore, duration: ignore }, resolutions: [720p], durations: { min: 5, max: 5, default: 5 }, price: { lines: [{ measure: call, price: "1" }] } }
  - { id: other, kind: video, price: { lines: [{ measure: call, price: "1" }] } }
  - { id: picture, kind: image, price: { lines: [{ measure: image, price: "0.05" }] } }
`;

const unused = (): never => {
  throw new Error('no upstream is called in these tests');
};

/**
 * This provider accepts every request, unless it contains `refuse_me`. The model `o` uses only the prompt. Callbacks
 * contain `done: true`.
 */
const testProvider: Provider = {
  about: { vendor: 'Test', inputs: 'text', unverified: [] },
  video: {
    cancelUntil: 'never',
    check: ({ extra }) =>
      extra['refuse_me'] === undefined ? undefined : { param: 'metadata.refuse_me', message: 'Refused.' },
    facts: {
      origin: testOrigin,
      retired: {
        source: 'a page',
        read: '2026-11-29',
        models: [
          [/^gone$/, '2026-01-02'],
          [/^ends$/, '2999-01-02'],
        ],
      },
      models: [[/^o$/, {}]],
      others: { fields: everyField, other_parameters: true },
    },
    submit: unused,
    status: unused,
    parseCallback: ({ body }) => {
      const fields = typeof body === 'object' && body !== null ? body : {};
      if ('challenge' in fields) return { ended: false, reply: { challenge: String(fields.challenge) } };
      return { ended: 'done' in fields && fields.done === true };
    },
    verifyCallback: ({ header, url }) =>
      header('x-signature') === 'unverifiable'
        ? Promise.reject(new Error('the key server is away'))
        : Promise.resolve(header('x-signature') !== 'forged' && (header('x-address') ?? url) === url),
  },
};

export type NodeChange = Partial<Omit<AppDeps, 'limits'>> & { readonly limits?: Partial<RequestLimits> };

export function useHttpWorld(database: string, change: NodeChange = {}): HttpWorld {
  let world: HttpWorld | undefined;
  let close: () => Promise<void> = () => Promise.resolve();
  beforeAll(async () => {
    [world, close] = await openWorld(database, change);
  });
  afterAll(() => close());
  return new Proxy({} as HttpWorld, { get: (_, property) => Reflect.get(world ?? {}, property) as unknown });
}

async function openWorld(database: string, change: NodeChange): Promise<[HttpWorld, () => Promise<void>]> {
  const mongo = await connectMongo(databaseUri(database));
  await mongo.db.dropDatabase();
  const clock: HttpWorld['clock'] = { aheadMs: 0 };
  const now = () => clock.stoppedAt ?? Date.now() + clock.aheadMs;
  const stores = createStores(mongo.db, now, testSealing);
  await Promise.all([ensureStoreIndexes(stores), ensureLedgerIndexes(mongo.db)]);
  const logLines: string[] = [];
  const log = createLogger({
    level: 'debug',
    format: 'json',
    destination: { write: (line) => void logLines.push(line) },
  });
  const secrets = createSecrets([randomBytes(32)], randomBytes(32));
  const key = testLedgerKey;
  const ledger = createLedger({ collection: ledgerCollection(mongo.db), key, now });
  const workspaces = await openImageWorkspaces(Date.now);
  const port = createTestPort({ tasks: stores.tasks, ledger, now });
  const abandonCreation = createAbandonCreation({ ...stores, ledger });
  const configOf = (text: string) =>
    parseGatewayConfig(text, 'test.yaml', { environment: {}, providerNames: ['test'] });
  let config = configOf(yaml);
  const servers: { readonly server: RunningHttpServer; readonly undeclared: ReadonlySet<string> }[] = [];

  const flushes: (() => Promise<void>)[] = [];

  function nodeDeps(nodeChange: NodeChange): AppDeps {
    const access = createAccess({ ...stores, secrets, adminToken, onError: unused, now, randomBytes });
    flushes.push(() => access.flush());
    const channelSwitches = createChannelSwitches({ states: stores.channelStates, onError: unused });
    const storage = createStorageQuota({ store: stores.storedBytes, bytesMax: 0, onError: unused, now });
    const circuits = createCircuits({
      store: stores.circuits,
      now,
      onChange: () => undefined,
      onError: unused,
    });
    const repeats = createRepeats({
      store: stores.repeats,
      isPaid: unused,
      keptBytesMax: 0,
      secret: secrets.deriveKey('idempotency-hmac'),
      log,
      now,
    });
    const providers = { test: testProvider };
    const callbackPlaces = openCallbackPlaces({ now, random: () => 0.5 });
    const { holdTerms, factorsOf } = createAccountTerms(stores.accounts, now);
    const catalogue = createCatalogue({
      factorsOf,
      current: () => config,
      providers,
      random: () => 0.5,
      outage: (channel, credential, user) =>
        channelSwitches.outage(channel) ?? circuits.outage({ channel: channel.id, credential, ...user }),
    });
    return {
      ...stores,
      repeats,
      log,
      metrics: createMetrics({ configVersion: () => 'abc' }),
      now,
      randomBytes,
      ...access,
      secrets,
      catalogue,
      renders: { times: () => undefined },
      charges: { expected: () => Promise.resolve(undefined) },
      channels: createChannels({
        current: () => config,
        providers,
        requestOf: () => unused,
        links: { check: () => undefined, onWithheld: () => undefined },
      }),
      port,
      auditLog: createAuditLog({ ...stores, log, now, randomBytes }),
      taskHistory: (task) => Promise.resolve({ of: task }),
      ledger,
      ledgerHeads: createHeadAnchors(mongo.db, key),
      readTrends: createReadTrends({
        ...stores,
        ledgerFlows: (asked) => readLedgerFlows(ledgerCollection(mongo.db), asked),
        now,
      }),
      billFormat: () => undefined,
      readUpstreamCosts: (asked) => readUpstreamCosts(ledgerCollection(mongo.db), asked),
      verifyLedger: (options) =>
        verifyLedger({
          ...options,
          db: mongo.db,
          key,
          now,
          anchorsHeads: true,
          holders: () => Promise.resolve(new Map()),
        }),
      actOnTask: createActOnTask({
        ...stores,
        ledger,
        port,
        currency: () => config.currency,
        now,
        randomBytes,
      }),
      refundImages: (id, input) => refundImages(id, input, { ledger, currency: () => config.currency }),
      holdTerms,
      createTask: createTaskService({
        ...stores,
        catalogue,
        storage,
        admit: createAdmit({
          ...stores,
          storage,
          ledger,
          port,
          abandonCreation,
          abandonments: createAbandonments({ abandonCreation, onError: () => undefined, now }),
          holdTerms,
          now,
          randomBytes,
        }),
        repeats,
        withStorage: async (plan) => plan,
        now,
        randomBytes,
      }),
      mediaUrl: noMediaUrl,
      channelSwitches,
      overrideCircuit: (target, order) => circuits.override(target, order),
      readHealth: async () =>
        readHealth({ stores, config: () => config, now }, await countForHealth(stores.tasks, log)),
      images: {
        create: unused,
        asData: unused,
        streamData: unused,
        limits: { bodyBytesMax: 20_000_000, filesMax: 4, pixelsMax: 1_000_000 },
        workspaces,
        vendorFields: new Set(),
      },
      trustedProxies: [],
      checkCallbackUrl: refuseForbidden,
      tryCallback: createTryCallback({
        takePlace: (origin, account) => callbackPlaces.takeFree(origin, account),
        webhookSecrets: webhookSecretsOf({ stores, secrets }),
        // The time limit is long, because a slow machine may take longer than the usual ten seconds.
        deliver: (delivery) => callbacks.deliver({ ...delivery, timeoutMs: 180_000 }),
        now,
        randomBytes,
      }),
      checkMediaUrl: refuseForbidden,
      pingMongo: async () => void (await mongo.db.command({ ping: 1 })),
      takeCensus: () =>
        takeCensus({
          log,
          stores,
          ledgerTotals: () => readLedgerTotals(ledgerCollection(mongo.db)),
          config: () => config,
          now,
        }),
      testNotices: () => Promise.resolve([]),
      noteBalance: () => undefined,
      pace: { use: (run) => run() },
      nodes: createNodes({
        store: stores.nodes,
        channels: () => config.channels,
        isUnsearchable: () => false,
        isForgotten: stores.requests.isForgotten,
        onError: unused,
      }),
      drafts: createConfigDrafts({
        ...stores,
        running: { check: () => Promise.resolve({ config }), publishText: unused },
        isExportOnly: false,
        now,
        randomBytes,
      }),
      exampleCatalogue: loadExampleCatalogue,
      catalogueAddition: async (text, addition) => additionTo(text, addition, await loadExampleCatalogue()),
      tryCredential: unused,
      publishConfig: () =>
        Promise.resolve({ ok: false, violations: ['models: required', 'currency: required'] }),
      previewConfig: () => Promise.resolve({ ok: false, violations: ['models: required'] }),
      ...change,
      ...nodeChange,
      limits: {
        ...requestLimitsOf(readEnvironment({})),
        ...(nodeChange.limits ?? change.limits ?? { addressRequestsPerSecond: 0 }),
      },
    };
  }

  async function startNode(nodeChange: NodeChange = {}): Promise<Server & { deps: AppDeps }> {
    const deps = nodeDeps(nodeChange);
    const watched = watchErrorCodes(createApp(deps), logLines);
    const server = await startHttpServer({ app: watched.app, host: '127.0.0.1', port: 0 });
    servers.push({ server, undeclared: watched.undeclared });
    const { url } = server;
    return {
      deps,
      url,
      call: caller(url),
      admin: adminCaller(url, adminToken),
      close: (graceMs) => server.close(graceMs),
    };
  }

  const main = await startNode();
  const world: HttpWorld = {
    ...main,
    stores,
    db: mongo.db,
    port,
    drive: taskDriver(stores.tasks),
    logLines,
    clock,
    configure: (changeText = (text) => text) => void (config = configOf(changeText(yaml))),
    startNode,
    async noteUses() {
      await Promise.all(flushes.map((flush) => flush()));
    },
    newAccount: (options) => makeAccount({ ...main, video: videoBody }, options),
  };
  return [
    world,
    async () => {
      await Promise.all(servers.map(({ server }) => server.close(0)));
      await mongo.db.dropDatabase();
      await mongo.close();
      await workspaces.close();
      // If this fails, a route returned a code that the OpenAPI document does not list for it. Add the code to the
      // route's `errors`.
      expect(servers.flatMap(({ undeclared }) => [...undeclared])).toEqual([]);
    },
  ];
}

/** Callbacks may reach only the address of the tests. Other tests cover the real rules. */
const callbacks = createGuardedClient({ networks: ['127.0.0.1/32'] });

function refuseForbidden(url: string): string | undefined {
  return URL.canParse(url) && new URL(url).hostname !== 'forbidden.example'
    ? undefined
    : 'The host is not public.';
}
