import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { keyScopes } from '../../src/base/key-scope.ts';
import type { ChildServer } from '../../src/local/servers/process.ts';
import { ask, askFor, askUntilAnswered } from './http.ts';
import type { Stand } from './stand.ts';

export interface StandGateway {
  readonly url: string;
  readonly simulatorUrl: string;
  readonly receiverUrl: string;
  readonly adminToken: string;
  readonly environment: Variables;
  api(): ChildServer;
  restartApi(): Promise<void>;
  addProcesses(): Promise<string>;
  newKeys(account: string, count: number): Promise<readonly string[]>;
}

export interface GatewaySettings {
  /**
   * The contents of gateway.yaml. SIMULATOR_URL stands for the simulator's URL, and the simulator's key is `simulated`.
   */
  readonly yaml: string;
  readonly renderSeconds: number;
  readonly environment?: Variables;
  readonly nodeFlags?: (name: 'api' | 'worker') => readonly string[];
  readonly prefix?: string;
}

type Variables = Readonly<Record<string, string>>;

export const simulatorKey = 'simulated';
const program = new URL('../../src/cli.ts', import.meta.url);
const loopback = '127.0.0.0/8';

export async function startGateway(stand: Stand, settings: GatewaySettings): Promise<StandGateway> {
  const { prefix = '', nodeFlags = () => [] } = settings;
  const simulator = await startSimulatorProcess(stand, settings);
  const environment = await writeEnvironment(stand, settings, simulator.simulatorUrl);
  const url = environment['PUBLIC_URL'] ?? '';
  const adminToken = environment['ADMIN_TOKEN'] ?? '';
  const start = (
    name: 'api' | 'worker',
    probe: () => Promise<unknown>,
    { suffix = '', ...changed }: { readonly suffix?: string; readonly PORT?: string } = {},
  ): Promise<ChildServer> =>
    stand.startProgram({
      name: `${prefix}${name}${suffix}`,
      script: program,
      args: [name],
      environment: { ...environment, ...changed },
      nodeFlags: nodeFlags(name),
      probe,
    });
  let pairs = 1;
  await start('worker', () => Promise.resolve());
  let api = await start('api', () => requireReady(url));
  return {
    url,
    ...simulator,
    adminToken,
    environment,
    api: () => api,
    async restartApi() {
      if (!api.hasExited()) process.kill(api.pid, 'SIGKILL');
      await stand.endProgram(`${prefix}api`);
      api = await start('api', () => requireReady(url));
    },
    async addProcesses() {
      pairs += 1;
      const suffix = `-${pairs}`;
      const PORT = String(await stand.freePort());
      const address = `http://127.0.0.1:${PORT}`;
      await start('worker', () => Promise.resolve(), { suffix });
      await start('api', () => requireReady(address), { suffix, PORT });
      return address;
    },
    newKeys: (account, count) => makeKeys({ url, adminToken }, { account, count }),
  };
}

async function startSimulatorProcess(stand: Stand, { prefix = '', renderSeconds }: GatewaySettings) {
  const port = await stand.freePort();
  const receiverPort = await stand.freePort();
  const simulatorUrl = `http://127.0.0.1:${port}`;
  await stand.startProgram({
    name: `${prefix}simulator`,
    script: new URL('simulator-process.ts', import.meta.url),
    args: [port, simulatorKey, renderSeconds, receiverPort].map(String),
    environment: {},
    probe: () => ask(`${simulatorUrl}/_control/stats`),
  });
  return { simulatorUrl, receiverUrl: `http://127.0.0.1:${receiverPort}/` };
}

async function writeEnvironment(
  stand: Stand,
  { yaml, environment, prefix = '' }: GatewaySettings,
  simulatorUrl: string,
): Promise<Variables> {
  const port = await stand.freePort();
  const config = join(stand.directory, `${prefix}gateway.yaml`);
  await writeFile(config, yaml);
  return {
    ...gatewayVariables(port, { config, dataDir: join(stand.directory, `${prefix}data`) }),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    MONGODB_URI: stand.mongodbUri.replace('/?', `/${prefix}stand?`),
    TEMPORAL_ADDRESS: stand.temporalAddress,
    TASK_QUEUE_PREFIX: prefix,
    SIMULATOR_URL: simulatorUrl,
    ...environment,
  };
}

export function gatewayVariables(
  port: number,
  { config, dataDir }: { readonly config: string; readonly dataDir: string },
): Variables {
  return {
    GATEWAY_CONFIG: config,
    HOST: '127.0.0.1',
    PORT: String(port),
    SECRETS_KEY: randomBytes(32).toString('base64'),
    ADMIN_TOKEN: randomBytes(16).toString('hex'),
    DATA_DIR: dataDir,
    SHUTDOWN_DRAIN_SECONDS: '0',
    SHUTDOWN_GRACE_SECONDS: '5',
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: loopback,
    MEDIA_ALLOW_PRIVATE_NETWORKS: loopback,
  };
}

const readySchema = z.object({ warnings: z.array(z.object({ duty: z.string(), message: z.string() })) });

export async function requireReady(url: string): Promise<void> {
  const { warnings } = await askFor(readySchema, `${url}/readyz`, { timeoutMs: 5_000 });
  const [missing] = warnings.filter(({ duty }) => duty === 'tasks' || duty === 'creates');
  if (missing !== undefined) throw new Error(missing.message);
}

interface KeyOrder {
  readonly account: string;
  readonly count?: number;
  readonly concurrent_tasks?: number;
}

export async function makeKeys(
  { url, adminToken }: Pick<StandGateway, 'url' | 'adminToken'>,
  { account, count = 1, ...more }: KeyOrder,
): Promise<readonly string[]> {
  const post = (path: string, body: unknown) =>
    askUntilAnswered(z.looseObject({ key: z.string().default('') }), `${url}/admin/v1${path}`, {
      method: 'POST',
      token: adminToken,
      body,
    });
  await post('/accounts', { id: account, name: account });
  await post(`/accounts/${account}/credits`, { amount: '100000000', reference: 'first' });
  const made = await Promise.all(
    Array.from({ length: count }, (_, n) =>
      post('/keys', { account, name: `key-${n}`, scopes: keyScopes, ...more }),
    ),
  );
  return made.map(({ key }) => key);
}

export async function startImageUpstream(stand: Stand, name: string): Promise<string> {
  const port = await stand.freePort();
  const url = `http://127.0.0.1:${port}`;
  await stand.startProgram({
    name,
    script: new URL('image-upstream.ts', import.meta.url),
    args: [String(port)],
    environment: {},
    probe: () => ask(url),
  });
  return url;
}
