import { keyScopes } from '../../src/base/key-scope.ts';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { requirePoller } from '../bench/support/stand.ts';
import type { Stand } from '../bench/support/stand.ts';
import type { ChildServer } from '../../src/local/servers/process.ts';
import type { ProbedProcess } from '../../test/support/read-probe.ts';
import { ask, askUntilAnswered } from '../soak/http.ts';

/** The gateway that is attacked: as production runs it, except that everything is on this machine. */
export interface HostileGateway {
  readonly url: string;
  /** The API's process: another one after `restart`. */
  api(): ProbedProcess & Pick<ChildServer, 'exited'>;
  /** Of an account of its own, with credit. */
  newKeys(account: string, count: number): Promise<readonly string[]>;
  restart(): Promise<void>;
}

/** What the container has. */
const heapMegabytes = 640;
const renderSeconds = 0.2;
const answersWithinMs = 5_000;
const loopback = '127.0.0.0/8';

const gatewayYaml = `
currency: USD
channels:
  - { id: videos, provider: ark, base_url: "\${SIMULATOR_URL}/ark/api/v3", private_networks: [127.0.0.0/8], private_link_networks: [127.0.0.0/8], credentials: [{ id: a, api_key: simulated }], limits: { submits_per_second: 1000, polls_per_second: 1000 }, models: { seedance: { upstream: dreamina-seedance-2-0-260128 } } }
  - { id: images, provider: openai, base_url: "\${IMAGES_URL}/v1", private_networks: [127.0.0.0/8], private_link_networks: [127.0.0.0/8], credentials: [{ id: a, api_key: simulated }], models: { gpt-image: { upstream: gpt-image-1.5 } } }
  - { id: ark, provider: ark, base_url: "\${IMAGES_URL}/v1", private_networks: [127.0.0.0/8], private_link_networks: [127.0.0.0/8], credentials: [{ id: a, api_key: simulated }], models: { seedream: { upstream: doubao-seedream-4-0-250828 } } }
models:
  - { id: seedance, kind: video, durations: { min: 4, max: 12, default: 5 }, inputs: { images: { max: 9 } }, expected_seconds: 1, price: { lines: [{ measure: call, price: "0.01" }] } }
  - { id: gpt-image, kind: image, inputs: { images: { max: 16 } }, price: { lines: [{ measure: image, price: "0.01" }] } }
  - { id: seedream, kind: image, inputs: { images: { max: 14 } }, price: { lines: [{ measure: image, price: "0.01" }] } }
`;

const program = new URL('../../src/cli.ts', import.meta.url);
const benchProgram = (name: string): URL => new URL(`../bench/support/${name}.ts`, import.meta.url);
const probeProgram = fileURLToPath(new URL('../../test/support/event-loop-probe.ts', import.meta.url));

type Variables = Readonly<Record<string, string>>;

/** Upstreams, a worker and the API, each in a process of the stand. */
export async function startHostileGateway(stand: Stand): Promise<HostileGateway> {
  const port = await stand.freePort();
  const url = `http://127.0.0.1:${port}`;
  const adminToken = randomBytes(32).toString('hex');
  const environment = await writeEnvironment(stand, { url, port, adminToken });
  await stand.startProgram({
    name: 'worker',
    script: program,
    args: ['worker'],
    environment,
    probe: () => requirePoller(stand, 'tasks', 'workflow'),
  });
  let api = await startApi(stand, url, environment);
  return {
    url,
    api: () => api,
    newKeys: (account, count) => makeKeys({ url, adminToken }, account, count),
    async restart() {
      if (!api.hasExited()) process.kill(api.pid, 'SIGKILL');
      await stand.endProgram('api');
      api = await startApi(stand, url, environment);
    },
  };
}

interface Address {
  readonly url: string;
  readonly port: number;
  readonly adminToken: string;
}

async function writeEnvironment(stand: Stand, { url, port, adminToken }: Address): Promise<Variables> {
  const config = join(stand.directory, 'gateway.yaml');
  writeFileSync(config, gatewayYaml);
  return {
    GATEWAY_CONFIG: config,
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: url,
    MONGODB_URI: stand.mongodbUri.replace('/?', '/hostile?'),
    TEMPORAL_ADDRESS: stand.temporalAddress,
    SECRETS_KEY: randomBytes(32).toString('base64'),
    ADMIN_TOKEN: adminToken,
    DATA_DIR: join(stand.directory, 'data'),
    ...(await startUpstreams(stand)),
    MEDIA_ALLOW_PRIVATE_NETWORKS: loopback,
    LOG_LEVEL: 'warn',
    PROBE_FILE: join(stand.directory, 'probe.json'),
    TMPDIR: stand.directory,
  };
}

async function startUpstreams(stand: Stand): Promise<Variables> {
  const simulatorPort = await stand.freePort();
  const imagesPort = await stand.freePort();
  const simulatorUrl = `http://127.0.0.1:${simulatorPort}`;
  const imagesUrl = `http://127.0.0.1:${imagesPort}`;
  await stand.startProgram({
    name: 'simulator',
    script: benchProgram('simulator-process'),
    args: [String(simulatorPort), 'simulated', String(renderSeconds), String(await stand.freePort())],
    environment: {},
    probe: () => ask(`${simulatorUrl}/_control/stats`),
  });
  await stand.startProgram({
    name: 'images',
    script: benchProgram('image-upstream'),
    args: [String(imagesPort)],
    environment: {},
    probe: () => ask(imagesUrl),
  });
  return { SIMULATOR_URL: simulatorUrl, IMAGES_URL: imagesUrl };
}

async function startApi(stand: Stand, url: string, environment: Variables) {
  const child = await stand.startProgram({
    name: 'api',
    script: program,
    args: ['api'],
    environment,
    nodeFlags: [
      `--max-old-space-size=${heapMegabytes}`,
      '--expose-gc',
      ...['tsx', probeProgram].flatMap((module) => ['--import', module]),
    ],
    async probe() {
      const { status } = await ask(`${url}/readyz`, { timeoutMs: answersWithinMs });
      if (status !== 200) throw new Error(`it answers ${status}`);
    },
  });
  const { pid, exited } = child;
  return { pid, exited, hasExited: () => child.hasExited(), file: environment['PROBE_FILE'] ?? '' };
}

async function makeKeys(
  { url, adminToken }: Pick<Address, 'url' | 'adminToken'>,
  account: string,
  count: number,
): Promise<readonly string[]> {
  const post = (path: string, body: unknown) =>
    askUntilAnswered(z.looseObject({ key: z.string().default('') }), `${url}/admin/v1${path}`, {
      method: 'POST',
      token: adminToken,
      body,
    });
  await post('/accounts', { id: account, name: account });
  await post(`/accounts/${account}/credits`, { amount: '100000', reference: 'first' });
  const made = await Promise.all(
    Array.from({ length: count }, (_, n) => post('/keys', { account, name: `key-${n}`, scopes: keyScopes })),
  );
  return made.map(({ key }) => key);
}
