import { keyScopes } from '../../src/base/key-scope.ts';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { requirePoller } from '../bench/support/stand.ts';
import type { Stand } from '../bench/support/stand.ts';

/** A gateway that generated requests are sent to. */
export interface Target {
  readonly url: string;
  readonly key: string;
  /** Absent: the operators' routes are left out. */
  readonly adminToken?: string;
}

/** What generated requests may switch off, without any model being out of service. */
export const spareChannel = 'spare';

const gatewayYaml = `
currency: USD
channels:
  - { id: videos, provider: ark, base_url: "\${SIMULATOR_URL}/ark/api/v3", private_networks: [127.0.0.0/8], private_link_networks: [127.0.0.0/8], credentials: [{ id: a, api_key: simulated }], limits: { submits_per_second: 1000, polls_per_second: 1000 }, models: { video: { upstream: dreamina-seedance-2-0-260128 } } }
  - { id: images, provider: openai, base_url: "\${SIMULATOR_URL}/openai/v1", private_networks: [127.0.0.0/8], private_link_networks: [127.0.0.0/8], credentials: [{ id: a, api_key: simulated }], models: { image: { upstream: gpt-image-1.5 } } }
  - { id: ${spareChannel}, provider: openai, base_url: "\${SIMULATOR_URL}/openai/v1", private_networks: [127.0.0.0/8], private_link_networks: [127.0.0.0/8], credentials: [{ id: a, api_key: simulated }], models: { spare-image: { upstream: gpt-image-1.5 } } }
models:
  - { id: video, kind: video, resolutions: [720p], durations: { min: 4, max: 12, default: 5 }, inputs: { images: { max: 9 } }, expected_seconds: 1, price: { lines: [{ measure: call, price: "0.01" }] } }
  - { id: image, kind: image, inputs: { images: { max: 4 } }, price: { lines: [{ measure: image, price: "0.01" }] } }
  - { id: spare-image, kind: image, price: { lines: [{ measure: image, price: "0.01" }] } }
`;

const renderSeconds = 0.2;
const program = new URL('../../src/cli.ts', import.meta.url);
const loopback = '127.0.0.0/8';

/** The upstream simulator, a worker and an API, each in a process of the stand; one account with credit and a key. */
export async function startOwnGateway(stand: Stand): Promise<Target> {
  const port = await stand.freePort();
  const url = `http://127.0.0.1:${port}`;
  const adminToken = randomBytes(16).toString('hex');
  const config = join(stand.directory, 'gateway.yaml');
  writeFileSync(config, gatewayYaml);
  const environment = {
    GATEWAY_CONFIG: config,
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: url,
    MONGODB_URI: stand.mongodbUri.replace('/?', '/schemathesis?'),
    TEMPORAL_ADDRESS: stand.temporalAddress,
    SECRETS_KEY: randomBytes(32).toString('base64'),
    ADMIN_TOKEN: adminToken,
    SIMULATOR_URL: await startSimulatorProcess(stand),
    MEDIA_ALLOW_PRIVATE_NETWORKS: loopback,
    // One key, and one address, is every caller here.
    ADDRESS_REQUESTS_PER_SECOND: '0',
    KEY_REQUESTS_PER_MINUTE: '0',
    KEY_CONCURRENT_REQUESTS: '0',
    LOG_LEVEL: 'warn',
  };
  const [worker, api] = (['worker', 'api'] as const).map((name) => ({
    name,
    script: program,
    args: [name],
    environment,
  }));
  if (worker === undefined || api === undefined) throw new Error('both are needed');
  await stand.startProgram({ ...worker, probe: () => requirePoller(stand, 'tasks', 'workflow') });
  await stand.startProgram({ ...api, probe: () => call(`${url}/readyz`, adminToken) });
  return { url, key: await makeKey(url, adminToken), adminToken };
}

async function startSimulatorProcess(stand: Stand): Promise<string> {
  const port = await stand.freePort();
  const url = `http://127.0.0.1:${port}`;
  await stand.startProgram({
    name: 'simulator',
    script: new URL('../bench/support/simulator-process.ts', import.meta.url),
    args: [String(port), 'simulated', String(renderSeconds), String(await stand.freePort())],
    environment: {},
    probe: () => call(`${url}/_control/stats`, ''),
  });
  return url;
}

async function makeKey(url: string, adminToken: string): Promise<string> {
  const admin = (path: string, body: unknown) => call(`${url}/admin/v1${path}`, adminToken, body);
  await admin('/accounts', { id: 'generated' });
  await admin('/accounts/generated/credits', { amount: '100000', reference: 'first' });
  const key: unknown = Reflect.get(await admin('/keys', { account: 'generated', scopes: keyScopes }), 'key');
  if (typeof key !== 'string') throw new Error('the API made no key');
  return key;
}

/** Without a body: a GET. */
async function call(url: string, token: string, body?: unknown): Promise<object> {
  const answer = await request(url, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  const parsed: unknown = await answer.body.json();
  if (answer.statusCode === 200 && typeof parsed === 'object' && parsed !== null) return parsed;
  throw new Error(`${url}: ${answer.statusCode} ${JSON.stringify(parsed)}`);
}
