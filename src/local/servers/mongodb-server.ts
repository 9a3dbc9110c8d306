import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import type { MongoClient } from 'mongodb';
import { z } from 'zod';

import { compileLauncher } from './java-launcher.ts';
import type { LocalOptions } from './local-options.ts';
import type { MongoProgram } from './mongodb-source.ts';
import { exists } from './program-files.ts';
import { startOnPort, type PortRequest } from './ports.ts';
import { startChild, waitUntilServing, type ChildServer } from './process.ts';

const portDefault = 27_017;
const startDeadlineMs = 60_000;
const replicaSet = 'mediary';
const fallbackFile = 'fallback.mv';

export type MongoOptions = LocalOptions & {
  program: MongoProgram;
  /** The directory for the stand-in's jars and compiled classes. Defaults to the data directory. */
  programDir?: string;
  port?: PortRequest;
  /** In megabytes, for the stand-in only. Defaults to 512. */
  heapMegabytes?: number;
};

export type MongoServer = ChildServer & { uri: string; kind: MongoProgram['kind'] };

/**
 * Waits until the server accepts writes. A mongod runs as a replica set with one member, so that majority concerns and
 * retried writes work as in production. The stand-in has no replica set.
 */
export async function startMongoServer(options: MongoOptions): Promise<MongoServer> {
  const directory = join(options.dataDir, 'mongodb');
  await mkdir(directory, { recursive: true });
  await warnOfOtherData(directory, options);
  return startOnPort(options.port ?? { preferred: portDefault }, 'MongoDB', (port) =>
    startOn(port, directory, options),
  );
}

async function startOn(port: number, directory: string, options: MongoOptions): Promise<MongoServer> {
  const child = await startChild({
    ...options,
    name: 'mongodb',
    ...(await commandLine(options, directory, port)),
  });
  const host = `127.0.0.1:${port}`;
  // Connect directly, because the address stored in the replica set contains the port, which may differ at each start.
  const uri = `mongodb://${host}/?directConnection=true`;
  await waitUntilServing(child, () => prepare(uri, host, options.program.kind), startDeadlineMs);
  return { ...child, uri, kind: options.program.kind };
}

async function commandLine(
  options: MongoOptions,
  directory: string,
  port: number,
): Promise<{ command: string; args: string[] }> {
  const { program } = options;
  if (program.kind === 'java') {
    const classPath = await compileLauncher(program, options.programDir ?? options.dataDir, options);
    const file = join(directory, fallbackFile);
    const heap = `-Xmx${options.heapMegabytes ?? heapMegabytesDefault}m`;
    const args = [...javaFlags, heap, '-cp', classPath, 'Launcher', file, String(port)];
    return { command: program.java, args };
  }
  return {
    command: program.path,
    args: [
      '--dbpath',
      directory,
      '--directoryperdb',
      '--bind_ip',
      '127.0.0.1',
      '--port',
      String(port),
      '--replSet',
      replicaSet,
      '--oplogSize',
      '256',
      '--wiredTigerCacheSizeGB',
      '0.5',
      '--quiet',
      ...noSocketFile,
    ],
  };
}

/**
 * Another user's mongod may have left a socket file in /tmp, which would prevent the start. Windows has no socket
 * files.
 */
const noSocketFile = process.platform === 'win32' ? [] : ['--nounixsocket'];

/**
 * Together with the small heap, these flags halve the startup time. The result is still fast enough for one machine.
 */
const javaFlags = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto'];
const heapMegabytesDefault = 512;

async function prepare(uri: string, host: string, kind: MongoProgram['kind']): Promise<void> {
  const { MongoClient } = await import('mongodb');
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 1_000, connectTimeoutMS: 1_000 });
  try {
    const admin = client.db('admin');
    if (kind === 'mongod') {
      await initiate(client, host);
    }
    // Use the command's old name, because the stand-in does not support `hello`.
    const hello = await admin.command({ isMaster: 1 });
    if (hello['ismaster'] !== true) {
      throw new Error('it is not yet the primary of its replica set');
    }
  } finally {
    await client.close();
  }
}

const notYetInitialized = 94;
const invalidReplicaSetConfig = 93;
const configSchema = z.object({ config: z.looseObject({ version: z.number() }) });

async function initiate(client: MongoClient, host: string): Promise<void> {
  const { MongoServerError } = await import('mongodb');
  const admin = client.db('admin');
  const members = [{ _id: 0, host }];
  try {
    const status = await admin.command({ replSetGetStatus: 1 });
    if (status['myState'] === 1) {
      return;
    }
  } catch (error) {
    if (!(error instanceof MongoServerError)) {
      throw error;
    }
    if (error.code === notYetInitialized) {
      await admin.command({ replSetInitiate: { _id: replicaSet, members } });
      return;
    }
    if (error.code !== invalidReplicaSetConfig) {
      throw error;
    }
    const { config } = configSchema.parse(await admin.command({ replSetGetConfig: 1 }));
    const moved = { ...config, members, version: config.version + 1 };
    await admin.command({ replSetReconfig: moved, force: true });
  }
}

/** Neither kind of server can read the other's files, so warn if the directory contains them. */
async function warnOfOtherData(directory: string, options: MongoOptions): Promise<void> {
  const other = options.program.kind === 'java' ? 'WiredTiger' : fallbackFile;
  const own = options.program.kind === 'java' ? fallbackFile : 'WiredTiger';
  const [hasOther, hasOwn] = await Promise.all([
    exists(join(directory, other)),
    exists(join(directory, own)),
  ]);
  if (hasOther && !hasOwn) {
    options.report(
      `MongoDB: ${directory} contains data from another kind of server, which this server cannot read. This server starts with an empty database.`,
      'lasting',
    );
  }
}
