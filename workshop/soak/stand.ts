import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { closeOnSignal } from '../stand/close-on-signal.ts';
import { gatewayVariables, makeKeys, requireReady } from '../stand/gateway.ts';
import { findServers, startProgram, waitUntil, type Program } from '../stand/stand.ts';
import { rawEnvironment, readEnvironment } from '../../src/config/environment.ts';
import { openCore, type Core } from '../../src/compose/core.ts';
import type { LocalOptions } from '../../src/local/servers/local-options.ts';
import { startMongoServer } from '../../src/local/servers/mongodb-server.ts';
import { startTemporalServer } from '../../src/local/servers/temporal-server.ts';
import { choosePort } from '../../src/local/servers/ports.ts';
import type { ChildServer } from '../../src/local/servers/process.ts';
import { createLogger } from '../../src/observability/log.ts';
import { gatewayYaml } from './configuration.ts';
import { ask, askFor } from '../stand/http.ts';
import { createVictim, type Victim } from './victim.ts';

const readyWithinMs = 180_000;

export const queuePrefix = 'soak-';
export const linkNames = ['temporal', 'mongodb'] as const;
export type LinkMode = 'pass' | 'cut' | 'silent' | 'slow' | 'reset';

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
  readonly exits: readonly string[];
  readonly core: Core;
  setLink(name: (typeof linkNames)[number], mode: LinkMode): Promise<void>;
  setFaults(share: number): Promise<{ readonly calls: number; readonly faulty: number }>;
  setClock(victim: Victim, ms: number): Promise<void>;
  configure(withSecond: boolean): Promise<void>;
  close(): Promise<void>;
}

const portNames = [
  'temporal',
  'mongodb',
  'temporalLink',
  'mongodbLink',
  'linkControl',
  'simulator',
  'front',
  'receiver',
  'api',
] as const;
const portsSchema = z.record(z.enum(portNames), z.number());
type Ports = Readonly<z.infer<typeof portsSchema>>;

export interface StandOptions {
  readonly seed: number;
  readonly keepsLogs: boolean;
}

const countsSchema = z.object({ calls: z.number(), faulty: z.number() });

export async function openStand({ seed, keepsLogs }: StandOptions): Promise<Stand> {
  const directory = await mkdtemp(join(tmpdir(), `mediary-soak-${seed}-`));
  const chosen = await Promise.all(
    portNames.map(async (name) => [name, await choosePort('any', 'a process of the soak')] as const),
  );
  const ports = portsSchema.parse(Object.fromEntries(chosen));
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
    const environments = await writeEnvironments(directory, ports);
    const gateway = await startGateway(directory, environments.gateway, keep);
    const core = await openCore(
      readEnvironment(environments.direct),
      createLogger({ level: 'silent', format: 'json' }),
      { variables: environments.direct },
    );
    closers.push(() => core.close());
    const url = `http://127.0.0.1:${ports.api}`;
    const adminToken = environments.direct['ADMIN_TOKEN'] ?? '';
    const [key = ''] = await makeKeys({ url, adminToken }, { account: 'soak', concurrent_tasks: 100 });
    return {
      directory,
      url,
      adminToken,
      key,
      receiverUrl: `http://127.0.0.1:${ports.receiver}`,
      simulatorUrl: `http://127.0.0.1:${ports.simulator}`,
      gateway,
      servers,
      outside,
      exits,
      core,
      setLink: async (name, mode) =>
        void (await ask(`http://127.0.0.1:${ports.linkControl}/${name}/${mode}`, { method: 'POST' })),
      setFaults: (share) => askFor(countsSchema, `http://127.0.0.1:${ports.front}/_faults/${share}`),
      setClock: ({ name }, ms) => writeFile(clockFile(directory, name), String(ms)),
      async configure(withSecond) {
        await writeFile(join(directory, 'gateway.yaml'), gatewayYaml(withSecond));
        await Promise.all(gateway.map((victim) => victim.reload()));
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

type Keep = (name: string, start: () => Promise<ChildServer>) => Promise<Victim>;

function optionsFor(dataDir: string): LocalOptions {
  return { dataDir, report: (line) => process.stderr.write(`${line}\n`), environment: rawEnvironment() };
}

function keepProgram(keep: Keep, directory: string, program: Program): Promise<Victim> {
  return keep(program.name, () => startProgram(program, optionsFor(directory)));
}

async function startServers(directory: string, ports: Ports, keep: Keep): Promise<Victim[]> {
  const own = optionsFor(directory);
  const { binary, ...mongodb } = await findServers(own);
  await keepProgram(keep, directory, {
    name: 'links',
    script: new URL('link.ts', import.meta.url),
    args: [
      String(ports.linkControl),
      `temporal:${ports.temporalLink}:${ports.temporal}`,
      `mongodb:${ports.mongodbLink}:${ports.mongodb}`,
    ],
    environment: {},
    probe: () => ask(`http://127.0.0.1:${ports.linkControl}/none`),
  });
  return Promise.all([
    keep('temporal', () =>
      startTemporalServer({ ...own, binary, port: { fixed: ports.temporal }, uiPort: 'none' }),
    ),
    keep('mongodb', () =>
      startMongoServer({
        ...own,
        ...mongodb,
        environment: { ...own.environment, CLOCK_FILE: clockFile(directory, 'mongodb') },
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
  return keepProgram(keep, directory, {
    name: 'outside',
    script: new URL('outside.ts', import.meta.url),
    args: [simulator, front, receiver, seed].map(String),
    environment: {},
    probe: () => ask(`http://127.0.0.1:${receiver}/received`),
  });
}

type Variables = Readonly<Record<string, string>>;

function movedClock(file: string): string {
  return new URL(`moved-clock.js?${encodeURIComponent(file)}`, import.meta.url).href;
}

function clockFile(directory: string, name: string): string {
  return join(directory, `clock-${name}`);
}

async function writeEnvironments(
  directory: string,
  ports: Ports,
): Promise<{ readonly gateway: Variables; readonly direct: Variables }> {
  const config = join(directory, 'gateway.yaml');
  await writeFile(config, gatewayYaml(true));
  const addresses = (temporal: number, mongodb: number) => ({
    TEMPORAL_ADDRESS: `127.0.0.1:${temporal}`,
    MONGODB_URI: `mongodb://127.0.0.1:${mongodb}/soak?directConnection=true`,
  });
  const common = {
    ...gatewayVariables(ports.api, { config, dataDir: join(directory, 'data') }),
    TASK_QUEUE_PREFIX: queuePrefix,
    SIMULATOR_URL: `http://127.0.0.1:${ports.front}`,
    KEY_REQUESTS_PER_MINUTE: '0',
    KEY_CONCURRENT_REQUESTS: '0',
  };
  return {
    gateway: { ...common, ...addresses(ports.temporalLink, ports.mongodbLink) },
    direct: { ...common, ...addresses(ports.temporal, ports.mongodb) },
  };
}

async function startGateway(directory: string, environment: Variables, keep: Keep): Promise<Victim[]> {
  const url = `http://127.0.0.1:${environment['PORT']}`;
  const program = (name: string, role: 'api' | 'worker', probe: () => Promise<unknown>) =>
    keepProgram(keep, directory, {
      name,
      script: new URL('../../src/gateway.js', import.meta.url),
      args: [role],
      environment,
      nodeFlags: ['--import', movedClock(clockFile(directory, name))],
      probe,
    });
  const workers = ['worker-1', 'worker-2'].map((name) => program(name, 'worker', async () => undefined));
  const alive = () => ask(`${url}/healthz`, { timeoutMs: 5_000 });
  const victims = await Promise.all([program('api', 'api', alive), ...workers]);
  const isReady = () =>
    requireReady(url).then(
      () => true,
      () => false,
    );
  await waitUntil('a ready gateway', isReady, { deadlineMs: readyWithinMs, everyMs: 200 });
  return victims;
}
