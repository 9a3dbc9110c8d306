import { keyScopes } from '../../src/base/key-scope.ts';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { closeOnSignal } from '../bench/support/close-on-signal.ts';
import { rawEnvironment, readEnvironment } from '../../src/config/environment.ts';
import { openCore } from '../../src/compose/core.ts';
import type { Core } from '../../src/compose/core.ts';
import type { LocalOptions } from '../../src/local/servers/local-options.ts';
import { startMongoServer } from '../../src/local/servers/mongodb-server.ts';
import { resolveMongo } from '../../src/local/servers/mongodb-source.ts';
import { choosePort } from '../../src/local/servers/ports.ts';
import { startChild, waitUntilServing } from '../../src/local/servers/process.ts';
import type { ChildServer } from '../../src/local/servers/process.ts';
import { startTemporalServer } from '../../src/local/servers/temporal-server.ts';
import { resolveTemporal } from '../../src/local/servers/temporal-source.ts';
import { createLogger } from '../../src/observability/log.ts';
import type { Fleet } from './configuration.ts';
import { ask, askFor, askUntilAnswered } from './http.ts';
import { createVictim } from './victim.ts';
import type { Victim } from './victim.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readyWithinMs = 180_000;
const loopback = '127.0.0.0/8';

export const queuePrefix = 'soak-';
export const linkNames = ['temporal', 'mongodb'] as const;
export type LinkMode = 'pass' | 'cut' | 'silent' | 'slow' | 'reset';

/** Everything of one soak, in processes of its own: the gateway reaches both servers through links that can be cut. */
export interface Stand {
  readonly directory: string;
  readonly url: string;
  readonly adminToken: string;
  readonly key: string;
  readonly receiverUrl: string;
  readonly simulatorUrl: string;
  readonly gateway: readonly Victim[];
  readonly servers: readonly Victim[];
  readonly outside: Victim;
  /** A sentence for each process that ended without having been killed. */
  readonly exits: readonly string[];
  /** The check's own, around the links. */
  readonly core: Core;
  setLink(name: (typeof linkNames)[number], mode: LinkMode): Promise<void>;
  /** The part of upstream calls that fail, 0 to 1. Resolves with those so far. */
  setFaults(share: number): Promise<{ readonly calls: number; readonly faulty: number }>;
  /**
   * Moves the wall clock of a gateway process, or of the MongoDB stand-in, by milliseconds. 0 sets it right again. The
   * clocks of a real mongod and of Temporal's server cannot be moved.
   */
  setClock(victim: Victim, ms: number): Promise<void>;
  /** With or without the second credential; every process reads it again. */
  configure(withSecond: boolean): Promise<void>;
  close(): Promise<void>;
}

interface Ports {
  readonly temporal: number;
  readonly mongodb: number;
  readonly temporalLink: number;
  readonly mongodbLink: number;
  readonly linkControl: number;
  readonly simulator: number;
  readonly front: number;
  readonly receiver: number;
  readonly api: number;
}

export interface StandOptions {
  readonly seed: number;
  readonly keepsLogs: boolean;
  readonly fleet: Fleet;
}

export async function openStand({ seed, keepsLogs, fleet }: StandOptions): Promise<Stand> {
  const directory = await mkdtemp(join(tmpdir(), `mediary-soak-${seed}-`));
  const ports = await choosePorts();
  const exits: string[] = [];
  const closers: (() => Promise<unknown>)[] = keepsLogs
    ? []
    : [() => rm(directory, { recursive: true, force: true })];
  const keep = async (name: string, start: () => Promise<ChildServer>): Promise<Victim> => {
    const victim = await createVictim(name, start, (sentence) => exits.push(sentence));
    closers.push(() => victim.end());
    return victim;
  };
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  closeOnSignal(close);
  try {
    const servers = await startServers(directory, ports, keep);
    const outside = await startOutside(directory, ports, { seed, keep });
    const environments = await writeEnvironments(directory, ports, fleet);
    const gateway = await startGateway(directory, environments.gateway, keep);
    const core = await openCore(
      readEnvironment(environments.direct),
      createLogger({ level: 'silent', format: 'json' }),
      { variables: environments.direct },
    );
    closers.push(() => core.close());
    const url = `http://127.0.0.1:${ports.api}`;
    const adminToken = environments.direct['ADMIN_TOKEN'] ?? '';
    return {
      directory,
      url,
      adminToken,
      key: await makeKey(url, adminToken),
      receiverUrl: `http://127.0.0.1:${ports.receiver}`,
      simulatorUrl: `http://127.0.0.1:${ports.simulator}`,
      gateway,
      servers,
      outside,
      exits,
      core,
      setLink: async (name, mode) =>
        void (await ask(`http://127.0.0.1:${ports.linkControl}/${name}/${mode}`, { method: 'POST' })),
      setFaults: (share) =>
        askFor(
          z.object({ calls: z.number(), faulty: z.number() }),
          `http://127.0.0.1:${ports.front}/_faults/${share}`,
        ),
      setClock: ({ name }, ms) => writeFile(clockFile(directory, name), String(ms)),
      async configure(withSecond) {
        await writeFile(join(directory, 'gateway.yaml'), fleet.yaml(withSecond));
        await Promise.all(gateway.map((victim) => victim.reload()));
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function choosePorts(): Promise<Ports> {
  const port = () => choosePort('any', 'a process of the soak');
  return {
    temporal: await port(),
    mongodb: await port(),
    temporalLink: await port(),
    mongodbLink: await port(),
    linkControl: await port(),
    simulator: await port(),
    front: await port(),
    receiver: await port(),
    api: await port(),
  };
}

type Keep = (name: string, start: () => Promise<ChildServer>) => Promise<Victim>;

function optionsFor(dataDir: string): LocalOptions {
  return { dataDir, report: (line) => process.stderr.write(`${line}\n`), environment: rawEnvironment() };
}

async function startServers(directory: string, ports: Ports, keep: Keep): Promise<Victim[]> {
  const cache = optionsFor(rawEnvironment()['MEDIARY_CACHE_DIR'] ?? join(root, '.mediary'));
  const own = optionsFor(directory);
  const binary = await resolveTemporal(cache);
  const mongodBinary = rawEnvironment()['MONGOD_BINARY'];
  const program = await resolveMongo({ ...cache, ...(mongodBinary === undefined ? {} : { mongodBinary }) });
  const links = new URL('link.ts', import.meta.url);
  await keep('links', () =>
    startProgram(directory, {
      name: 'links',
      args: [
        fileURLToPath(links),
        String(ports.linkControl),
        `temporal:${ports.temporalLink}:${ports.temporal}`,
        `mongodb:${ports.mongodbLink}:${ports.mongodb}`,
      ],
      environment: {},
      probe: () => ask(`http://127.0.0.1:${ports.linkControl}/none`),
    }),
  );
  return Promise.all([
    keep('temporal', () =>
      startTemporalServer({ ...own, binary, port: { fixed: ports.temporal }, uiPort: 'none' }),
    ),
    keep('mongodb', () =>
      startMongoServer({
        ...own,
        environment: { ...own.environment, CLOCK_FILE: clockFile(directory, 'mongodb') },
        program,
        programDir: cache.dataDir,
        port: { fixed: ports.mongodb },
      }),
    ),
  ]);
}

function startOutside(
  directory: string,
  { simulator, front, receiver }: Ports,
  { seed, keep }: { readonly seed: number; readonly keep: Keep },
): Promise<Victim> {
  const script = fileURLToPath(new URL('outside.ts', import.meta.url));
  return keep('outside', () =>
    startProgram(directory, {
      name: 'outside',
      args: [script, ...[simulator, front, receiver, seed].map(String)],
      environment: {},
      probe: () => ask(`http://127.0.0.1:${receiver}/received`),
    }),
  );
}

type Variables = Readonly<Record<string, string>>;

function movedClock(file: string): string {
  return new URL(`moved-clock.js?${encodeURIComponent(file)}`, import.meta.url).href;
}

function clockFile(directory: string, name: string): string {
  return join(directory, `clock-${name}`);
}

/** The gateway's goes through the links; the check's own does not. */
async function writeEnvironments(
  directory: string,
  ports: Ports,
  fleet: Fleet,
): Promise<{ readonly gateway: Variables; readonly direct: Variables }> {
  const config = join(directory, 'gateway.yaml');
  await writeFile(config, fleet.yaml(true));
  const addresses = (temporal: number, mongodb: number) => ({
    TEMPORAL_ADDRESS: `127.0.0.1:${temporal}`,
    MONGODB_URI: `mongodb://127.0.0.1:${mongodb}/soak?directConnection=true`,
  });
  const common = {
    HOST: '127.0.0.1',
    PORT: String(ports.api),
    TASK_QUEUE_PREFIX: queuePrefix,
    SECRETS_KEY: randomBytes(32).toString('base64'),
    ADMIN_TOKEN: randomBytes(16).toString('hex'),
    GATEWAY_CONFIG: config,
    DATA_DIR: join(directory, 'data'),
    SIMULATOR_URL: `http://127.0.0.1:${ports.front}`,
    SHUTDOWN_DRAIN_SECONDS: '0',
    SHUTDOWN_GRACE_SECONDS: '5',
    KEY_REQUESTS_PER_MINUTE: '0',
    KEY_CONCURRENT_REQUESTS: '0',
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: loopback,
    MEDIA_ALLOW_PRIVATE_NETWORKS: loopback,
  };
  return {
    gateway: { ...common, ...addresses(ports.temporalLink, ports.mongodbLink) },
    direct: { ...common, ...addresses(ports.temporal, ports.mongodb) },
  };
}

async function startGateway(directory: string, environment: Variables, keep: Keep): Promise<Victim[]> {
  const program = (name: string, role: 'api' | 'worker', probe: () => Promise<unknown>) =>
    keep(name, () =>
      startProgram(directory, {
        name,
        args: ['--import', movedClock(clockFile(directory, name)), join(root, 'src/gateway.js'), role],
        environment,
        probe,
      }),
    );
  const ready = async () => {
    const { body } = await ask(`http://127.0.0.1:${environment['PORT']}/readyz`, { timeoutMs: 5_000 });
    const answer = JSON.stringify(body);
    if (!answer.includes('"warnings":[]')) throw new Error(`it answers ${answer}`);
  };
  // A worker is ready when the API says so; one that is started again is not waited for.
  const workers = ['worker-1', 'worker-2'].map((name) => program(name, 'worker', async () => undefined));
  const alive = () => ask(`http://127.0.0.1:${environment['PORT']}/healthz`, { timeoutMs: 5_000 });
  const victims = await Promise.all([program('api', 'api', alive), ...workers]);
  const endsAt = Date.now() + readyWithinMs;
  for (;;) {
    const problem: unknown = await ready().then(
      () => undefined,
      (error: unknown) => error,
    );
    if (problem === undefined) return victims;
    if (Date.now() > endsAt) throw problem;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

interface Program {
  readonly name: string;
  readonly args: readonly string[];
  readonly environment: Variables;
  readonly probe: () => Promise<unknown>;
}

async function startProgram(directory: string, { name, args, environment, probe }: Program) {
  const child = await startChild({
    ...optionsFor(directory),
    name,
    command: process.execPath,
    args: ['--import', join(root, 'src/typescript.js'), ...args],
    environment: { PATH: rawEnvironment()['PATH'], ...environment },
  });
  await waitUntilServing(child, probe, readyWithinMs);
  return child;
}

async function makeKey(url: string, token: string): Promise<string> {
  const post = (path: string, body: unknown) =>
    askUntilAnswered(z.looseObject({ key: z.string().optional() }), `${url}/admin/v1${path}`, {
      method: 'POST',
      token,
      body,
    });
  await post('/accounts', { id: 'soak', name: 'soak' });
  await post('/accounts/soak/credits', { amount: '1000000', reference: 'soak' });
  const { key } = await post('/keys', {
    account: 'soak',
    name: 'soak',
    concurrent_tasks: 100,
    scopes: keyScopes,
  });
  return key ?? '';
}
