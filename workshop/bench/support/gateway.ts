import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MongoClient } from 'mongodb';
import type { Db } from 'mongodb';
import { request } from 'undici';

import { profileFlags } from './profile.ts';
import { requirePoller } from './stand.ts';
import type { Stand } from './stand.ts';

/** The gateway as operators run it: API and worker in a process each, with the simulator as their upstream. */
export interface BenchGateway {
  readonly url: string;
  readonly simulatorUrl: string;
  /** Takes callbacks; in the simulator's process. */
  readonly receiverUrl: string;
  /** API keys of accounts with credit: work is spread over them in turn. */
  readonly keys: readonly string[];
  /** As many with caps of all kinds, which never refuse. */
  readonly cappedKeys: readonly string[];
  readonly adminToken: string;
  /** The gateway's own database, and the key of its secrets. */
  readonly db: Db;
  readonly mongodbUri: string;
  readonly secretsKey: string;
  /** Body of a create: the model decides when the first poll comes, the prompt how long the simulator renders. */
  videoBody(kind: RenderKind, more?: Readonly<Record<string, unknown>>): string;
  simulatorStats(): Promise<SimulatorStats>;
  close(): Promise<void>;
}

/**
 * `short`: renders in 1 s. `long`: for ever, so that admission and submission are all that happens. `parked`: on a
 * channel whose circuit is open, so that nothing is submitted. `lines`: like `parked`, with three price lines.
 */
export type RenderKind = 'short' | 'long' | 'parked' | 'lines';

export interface SimulatorStats {
  readonly submits: number;
  readonly creates: number;
}

export interface GatewayOptions {
  readonly profile: boolean;
  readonly accounts?: number;
  /** More channels and models, as YAML list items. */
  readonly channels?: string;
  readonly models?: string;
  /** Directory of another checkout, whose gateway is started; absent: this one's. */
  readonly checkout?: string;
  /** Of a second gateway beside the first one: what its processes, files, queues and database begin with. */
  readonly prefix?: string;
}

const ownProgram = new URL('../../../src/cli.ts', import.meta.url);
export const simulatorKey = 'simulated';
const loopback = '127.0.0.0/8';
const credit = '100000000';
export const shortRenderSeconds = 1;
const longRenderSeconds = 36_000;

async function startSimulatorProcess(stand: Stand, prefix: string) {
  const port = await stand.freePort();
  const receiverPort = await stand.freePort();
  const url = `http://127.0.0.1:${port}`;
  await stand.startProgram({
    name: `${prefix}simulator`,
    script: new URL('simulator-process.ts', import.meta.url),
    args: [String(port), simulatorKey, String(shortRenderSeconds), String(receiverPort)],
    environment: {},
    probe: () => getJson(`${url}/_control/stats`),
  });
  return { url, receiverUrl: `http://127.0.0.1:${receiverPort}/` };
}

export async function startBenchGateway(stand: Stand, options: GatewayOptions): Promise<BenchGateway> {
  const { checkout, prefix = '' } = options;
  const { url: simulatorUrl, receiverUrl } = await startSimulatorProcess(stand, prefix);
  const port = await stand.freePort();
  const url = `http://127.0.0.1:${port}`;
  const adminToken = randomBytes(16).toString('hex');
  const config = join(stand.directory, `${prefix}gateway.yaml`);
  await writeFile(config, configuration(options));
  const queues = `bench-${prefix}`;
  const database = `${prefix}bench`;
  const environment = {
    GATEWAY_CONFIG: config,
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: url,
    MONGODB_URI: stand.mongodbUri.replace('/?', `/${database}?`),
    TEMPORAL_ADDRESS: stand.temporalAddress,
    TASK_QUEUE_PREFIX: queues,
    SECRETS_KEY: randomBytes(32).toString('base64'),
    ADMIN_TOKEN: adminToken,
    SIMULATOR_URL: simulatorUrl,
    SHUTDOWN_DRAIN_SECONDS: '0',
    SHUTDOWN_GRACE_SECONDS: '5',
    // One key is every caller here.
    KEY_REQUESTS_PER_MINUTE: '0',
    KEY_CONCURRENT_REQUESTS: '0',
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: loopback,
    MEDIA_ALLOW_PRIVATE_NETWORKS: loopback,
  };
  const script = checkout === undefined ? ownProgram : pathToFileURL(resolve(checkout, 'src/cli.ts'));
  const flags = (name: string): readonly string[] => (options.profile ? profileFlags(prefix + name) : []);
  await stand.startProgram({
    name: `${prefix}worker`,
    script,
    args: ['worker'],
    environment,
    nodeFlags: flags('worker'),
    probe: () =>
      Promise.all([
        requirePoller(stand, `${queues}tasks`, 'workflow'),
        requirePoller(stand, `${queues}channel-ark`, 'activity'),
        requirePoller(stand, `${queues}callbacks`, 'activity'),
      ]),
  });
  await stand.startProgram({
    name: `${prefix}api`,
    script,
    args: ['api'],
    environment,
    nodeFlags: flags('api'),
    probe: () => getJson(`${url}/readyz`),
  });
  await post(`${url}/admin/v1/channels/parked/circuits`, adminToken, {
    credential: 'a',
    state: 'open',
    reason: 'nothing is submitted there',
  });
  const keys = await Promise.all(
    Array.from({ length: options.accounts ?? 4 }, async (_, index) => {
      return (await makeKey(url, adminToken, `account-${index}`)).key;
    }),
  );
  const cappedKeys = await Promise.all(
    keys.map((_, index) => makeCappedKey(url, adminToken, `capped-${index}`)),
  );
  const mongo = await MongoClient.connect(stand.mongodbUri, { useBigInt64: true });
  return {
    url,
    simulatorUrl,
    receiverUrl,
    keys,
    cappedKeys,
    adminToken,
    db: mongo.db(database),
    mongodbUri: environment.MONGODB_URI,
    secretsKey: environment.SECRETS_KEY,
    videoBody: (kind, more = {}) => JSON.stringify({ ...videoRequests[kind], ...more }),
    simulatorStats: async () => (await getJson(`${simulatorUrl}/_control/stats`)) as SimulatorStats,
    close: () => mongo.close(),
  };
}

const videoRequest = { duration: 5, resolution: '720p', ratio: '16:9' };
const videoRequests: Record<RenderKind, Readonly<Record<string, unknown>>> = {
  short: { ...videoRequest, model: 'short', prompt: `a boat [sim:render=${shortRenderSeconds}]` },
  long: { ...videoRequest, model: 'long', prompt: `a boat [sim:render=${longRenderSeconds}]` },
  parked: { ...videoRequest, model: 'parked', prompt: 'a boat' },
  lines: { ...videoRequest, model: 'lines', prompt: 'a boat' },
};

function configuration({ channels = '', models = '' }: GatewayOptions): string {
  return `currency: USD
channels:
${arkChannel('ark', ['short', 'long'])}${arkChannel('parked', ['parked', 'lines'])}${channels}models:
${videoModel('short', shortRenderSeconds)}${videoModel('long', longRenderSeconds)}${videoModel('parked', longRenderSeconds)}${videoModel('lines', longRenderSeconds, threeLines)}${models}`;
}

function arkChannel(id: string, models: readonly string[]): string {
  const served = models.map((model) => `${model}: { upstream: dreamina-seedance-2-0-260128 }`);
  return `  - id: ${id}
    provider: ark
    base_url: \${SIMULATOR_URL}/ark/api/v3
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: ${simulatorKey} }]
    callbacks: false
    limits: { submits_per_second: 1000, polls_per_second: 1000 }
    timeouts: { submit_ms: 5000, poll_ms: 5000 }
    models: { ${served.join(', ')} }
`;
}

const tokenPrice = '{ lines: [{ measure: million_tokens, price: "7.00" }] }';
const threeLines = `{ lines: [{ measure: million_tokens, price: "7.00" },
      { measure: million_input_text_tokens, price: "0.50" }, { measure: input_image, price: "0.01", beyond: 1 }] }`;

/** A model as a YAML list item; `price` is what follows `price:`. */
export function videoModel(id: string, expectedSeconds: number, price = tokenPrice): string {
  return `  - id: ${id}
    kind: video
    resolutions: [720p]
    ratios: ["16:9"]
    durations: { min: 4, max: 15, default: 5 }
    expected_seconds: ${expectedSeconds}
    price: ${price}
`;
}

const caps = { day: credit, month: credit, total: credit, reason: 'bench' };

async function makeCappedKey(url: string, adminToken: string, account: string): Promise<string> {
  const { id, key } = await makeKey(url, adminToken, account);
  const admin = `${url}/admin/v1`;
  const models = (['short', 'long', 'parked'] as const).map((model) => ({
    model,
    ...caps,
    reason: undefined,
  }));
  await post(`${admin}/keys/${id}/caps`, adminToken, { ...caps, models });
  await post(`${admin}/accounts/${account}/end-user-caps`, adminToken, caps);
  return key;
}

async function makeKey(
  url: string,
  adminToken: string,
  account: string,
): Promise<{ readonly id: string; readonly key: string }> {
  const admin = `${url}/admin/v1`;
  await post(`${admin}/accounts`, adminToken, { id: account, name: account });
  const payment = { amount: credit, reference: `${account} credit` };
  await post(`${admin}/accounts/${account}/credits`, adminToken, payment);
  const { id, key } = await post(`${admin}/keys`, adminToken, { account, name: 'bench' });
  return { id: String(id), key: String(key) };
}

async function post(url: string, token: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await request(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`POST ${url}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

export async function getJson(url: string): Promise<unknown> {
  const { statusCode, body } = await request(url, { headersTimeout: 5_000 });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`GET ${url}: ${statusCode} ${text}`);
  return JSON.parse(text);
}

export function jsonHeaders(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
}
