import { randomBytes } from 'node:crypto';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cacheDir, findServers } from '../stand/stand.ts';
import { rawEnvironment } from '../../src/config/environment.ts';
import { LocalServerError, type LocalOptions } from '../../src/local/servers/local-options.ts';
import { startMongoServer, type MongoServer } from '../../src/local/servers/mongodb-server.ts';
import type { MongoProgram } from '../../src/local/servers/mongodb-source.ts';
import { choosePort } from '../../src/local/servers/ports.ts';
import { startSimulator } from '../simulator/simulator.ts';
import { repositoryPath } from '../../test/deploy/compose-file.ts';
import { gatewayYaml } from '../soak/configuration.ts';
import { addressOf, composeProcess, composeService } from './compose-process.ts';
import type { ComposeProcess, Surroundings } from './compose-process.ts';
import { asPostgresUser, postgresqlPrograms, temporalPrograms } from './programs.ts';
import { makeSecurity } from './security.ts';

const renderSeconds = 2;
const gatewayScript = repositoryPath('src/gateway.js');
const required = [
  'MONGODB_ROOT_PASSWORD',
  'MONGODB_PASSWORD',
  'MONGODB_REPLICA_SET_KEY',
  'TEMPORAL_POSTGRES_PASSWORD',
  'ADMIN_TOKEN',
] as const;

/** Runs the services of docker-compose.yml. At first, only the upstream simulator is running. */
export interface TopologyStand {
  readonly directory: string;
  readonly server: string;
  readonly postgresql: ComposeProcess;
  readonly temporal: ComposeProcess;
  readonly apis: readonly [ComposeProcess, ComposeProcess];
  readonly workers: readonly ComposeProcess[];
  readonly mongodb: MongoProcess;
  readonly once: (service: string) => Promise<string>;
  readonly gateway: (...args: readonly string[]) => Promise<string>;
  close(): Promise<void>;
}

export interface MongoProcess {
  readonly kind: MongoServer['kind'];
  readonly files: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface TopologyOptions {
  readonly namespace: string;
  readonly secured: boolean;
  readonly keepsLogs: boolean;
  readonly report: (line: string) => void;
}

export async function openTopology(options: TopologyOptions): Promise<TopologyStand> {
  const { namespace, secured, keepsLogs, report } = options;
  const directory = await mkdtemp(join(tmpdir(), 'mediary-topology-'));
  // PostgreSQL's user must be able to reach its subdirectory.
  await chmod(directory, 0o711);
  const simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    apiKeys: ['simulated'],
    renderSeconds,
  });
  const { program, binary } = await findServers({ report, environment: rawEnvironment() });
  const mongodb = await prepareMongo(directory, { report, program });
  const security = secured
    ? await makeSecurity(directory, { address: addressOf('temporal'), namespace })
    : undefined;
  const programs = await findPrograms(binary, report);
  const surroundings: Surroundings = {
    directory,
    variables: environmentFile(namespace),
    keys: { SIMULATOR_URL: simulator.url },
    path: programs.path,
    overrides: (service) => ({
      MONGODB_URI: mongodb.uri,
      PGHOST: join(directory, 'postgresql'),
      ...(service === 'temporal' ? security?.server : {}),
      ...(service === 'temporal-namespace' ? security?.operator : security?.gateway),
    }),
  };
  await writeFile(join(directory, 'gateway.yaml'), gatewayYaml(false));
  const processes = describeProcesses(surroundings, secured);
  return {
    directory,
    server: programs.server,
    mongodb,
    ...processes,
    async once(service) {
      const args = (composeService(service).entrypoint ?? []).slice(1);
      const output = await composeProcess(surroundings, service).run('sh', args);
      return output.trim().split('\n').at(-1) ?? '';
    },
    gateway: (...args) => processes.apis[0].run(process.execPath, [gatewayScript, ...args]),
    async close() {
      const { postgresql, temporal, apis, workers } = processes;
      for (const each of [...apis, ...workers, temporal])
        await each.stop().catch((error: unknown) => report(String(error)));
      await postgresql.stop('SIGINT').catch((error: unknown) => report(String(error)));
      await Promise.all([mongodb.stop(), simulator.close()]);
      if (!keepsLogs) await rm(directory, { recursive: true, force: true });
    },
  };
}

function describeProcesses(surroundings: Surroundings, secured: boolean) {
  const gateway = (name: string, replica: number): ComposeProcess =>
    composeProcess(surroundings, name, {
      replica,
      program: { command: process.execPath, args: [gatewayScript, ...(composeService(name).command ?? [])] },
    });
  const [postgres, args] = asPostgresUser('postgres', [
    ...(composeService('postgresql').command ?? []).slice(1),
    '-D',
    dataOf(surroundings.directory),
    '-c',
    `listen_addresses=${addressOf('postgresql')}`,
    '-c',
    `unix_socket_directories=${join(surroundings.directory, 'postgresql')}`,
  ]);
  return {
    postgresql: composeProcess(surroundings, 'postgresql', { program: { command: postgres, args } }),
    temporal: composeProcess(surroundings, 'temporal', {
      program: { command: 'temporal-server', args: ['start'] },
      // The health check in docker-compose.yml uses plain HTTP. Replace it if Temporal requires TLS.
      ...(secured
        ? { check: `temporal operator cluster health --address ${addressOf('temporal')}:7233`.split(' ') }
        : {}),
    }),
    workers: [gateway('worker', 0), gateway('worker', 1)],
    apis: [gateway('api', 0), gateway('api', 1)] as const,
  };
}

/** Throws if docker-compose.yml sets a variable that Temporal's server does not read. */
export async function requireServerReads({ server }: TopologyStand): Promise<void> {
  // The names of all variables that a program reads are in its file.
  const content = await readFile(join(server, 'temporal-server'));
  const unread = Object.keys(composeService('temporal').environment).filter(
    (name) => !content.includes(name),
  );
  if (unread.length > 0) throw new LocalServerError(`temporal does not read ${unread.join(', ')}`);
}

/**
 * Initialises PostgreSQL as its image does at the first start. Connections through the socket are trusted, and all
 * others require the password.
 */
export async function initializePostgresql({ directory, postgresql }: TopologyStand): Promise<void> {
  const folder = join(directory, 'postgresql');
  const passwordFile = join(folder, 'password');
  await mkdir(folder);
  await writeFile(passwordFile, postgresql.environment['POSTGRES_PASSWORD'] ?? '', { mode: 0o400 });
  if (process.getuid?.() === 0) await postgresql.run('chown', ['-R', 'postgres', folder]);
  const user = postgresql.environment['POSTGRES_USER'] ?? '';
  const options = ['--auth-local=trust', '--auth-host=scram-sha-256', `--pwfile=${passwordFile}`];
  await postgresql.run(
    ...asPostgresUser('initdb', ['-D', dataOf(directory), '--username', user, ...options]),
  );
}

function dataOf(directory: string): string {
  return join(directory, 'postgresql', 'data');
}

function environmentFile(namespace: string): ReadonlyMap<string, string> {
  const loopback = '127.0.0.0/8';
  return new Map([
    ...required.map((name) => [name, randomBytes(32).toString('hex')] as const),
    ['SECRETS_KEY', randomBytes(32).toString('base64')],
    ['TEMPORAL_NAMESPACE', namespace],
    ['WEBHOOK_ALLOW_PRIVATE_NETWORKS', loopback],
    ['MEDIA_ALLOW_PRIVATE_NETWORKS', loopback],
  ]);
}

interface Programs {
  readonly server: string;
  readonly path: readonly string[];
}

async function findPrograms(path: string, report: (line: string) => void): Promise<Programs> {
  const server = await temporalPrograms(cacheDir, versionOf('temporal'), report);
  return { server, path: [server, dirname(path), await postgresqlPrograms(), dirname(process.execPath)] };
}

function versionOf(service: string): string {
  return composeService(service).image.split(':')[1] ?? '';
}

/**
 * Starts MongoDB without docker-compose.yml, because the stand-in does not support passwords and its programs include
 * no shell.
 */
async function prepareMongo(
  directory: string,
  { report, program }: { readonly report: (line: string) => void; readonly program: MongoProgram },
): Promise<MongoProcess & { readonly uri: string }> {
  const options: LocalOptions = { dataDir: directory, report, environment: rawEnvironment() };
  const port = await choosePort('any', 'MongoDB');
  let server: MongoServer | undefined;
  return {
    kind: program.kind,
    files: join(directory, 'mongodb'),
    uri: `mongodb://127.0.0.1:${port}/mediary?directConnection=true`,
    async start() {
      server = await startMongoServer({ ...options, program, programDir: cacheDir, port: { fixed: port } });
    },
    async stop() {
      await server?.stop();
      server = undefined;
    },
  };
}

export async function replaceFiles(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  await cp(from, to, { recursive: true });
}
