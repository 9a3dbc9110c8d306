import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';

import { defined } from '../../src/base/defined.ts';
import { rawEnvironment } from '../../src/config/environment.ts';
import type { LocalOptions } from '../../src/local/servers/local-options.ts';
import { startMongoServer, type MongoOptions } from '../../src/local/servers/mongodb-server.ts';
import { resolveMongo } from '../../src/local/servers/mongodb-source.ts';
import { choosePort } from '../../src/local/servers/ports.ts';
import { startChild, waitUntilServing, type ChildServer } from '../../src/local/servers/process.ts';
import { startTemporalServer } from '../../src/local/servers/temporal-server.ts';
import { resolveTemporal } from '../../src/local/servers/temporal-source.ts';
import { closeOnSignal } from './close-on-signal.ts';

const projectDir = fileURLToPath(new URL('../..', import.meta.url));
export const cacheDir: string = rawEnvironment()['MEDIARY_CACHE_DIR'] ?? join(projectDir, '.mediary');
const typescriptFlags = ['--import', join(projectDir, 'src/typescript.js')];
const readyDeadlineMs = 180_000;
/**
 * Long enough for a process to write a profile, which it does when it exits, and for a worker to finish its activities.
 */
const endDeadlineMs = 60_000;

/** Runs Temporal and MongoDB on free ports and in a temporary directory, with the programs that use them. */
export interface Stand {
  readonly directory: string;
  readonly temporalAddress: string;
  readonly mongodbUri: string;
  readonly mongoKind: 'mongod' | 'java';
  readonly temporal: Client;
  readonly pids: Readonly<Record<string, number>>;
  startProgram(program: Program): Promise<ChildServer>;
  endProgram(name: string): Promise<void>;
  freePort(): Promise<number>;
  close(): Promise<void>;
}

export interface Program {
  readonly name: string;
  readonly script: URL | string;
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly nodeFlags?: readonly string[];
  readonly probe: () => Promise<unknown>;
  readonly readyWithinMs?: number;
}

export async function openStand(settings: Pick<MongoOptions, 'heapMegabytes'> = {}): Promise<Stand> {
  const directory = await mkdtemp(join(tmpdir(), 'mediary-stand-'));
  const options: LocalOptions = {
    dataDir: directory,
    report: (line) => void process.stderr.write(`${line}\n`),
    environment: rawEnvironment(),
  };
  const children: ChildServer[] = [];
  const pids: Record<string, number> = { bench: process.pid };
  const keep = <Child extends ChildServer>(child: Child): Child => {
    children.push(child);
    pids[child.name] = child.pid;
    return child;
  };
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0)) await closer();
    for (const child of children.splice(0).reverse()) await end(child);
    await rm(directory, { recursive: true, force: true });
  };
  closeOnSignal(close);
  try {
    const { binary, ...mongodb } = await findServers(options);
    const [temporal, mongo] = await Promise.all([
      startTemporalServer({ ...options, binary, port: 'any', uiPort: 'none' }),
      startMongoServer({ ...options, ...settings, ...mongodb, port: 'any' }),
    ]);
    keep(temporal);
    keep(mongo);
    const connection = await Connection.connect({ address: temporal.address });
    closers.push(() => connection.close());
    return {
      directory,
      temporalAddress: temporal.address,
      mongodbUri: mongo.uri,
      mongoKind: mongo.kind,
      temporal: new Client({ connection }),
      pids,
      startProgram: async (program) => keep(await startProgram(program, options)),
      endProgram: async (name) => {
        const index = children.findIndex((child) => child.name === name);
        const [child] = index < 0 ? [] : children.splice(index, 1);
        if (child !== undefined) await end(child);
        delete pids[name];
      },
      freePort: () => choosePort('any', 'a program'),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Finds the programs of both servers, and keeps them in `cacheDir`. */
export async function findServers(options: Omit<LocalOptions, 'dataDir'>) {
  const cached = { ...options, dataDir: cacheDir };
  const mongodBinary = options.environment['MONGOD_BINARY'];
  const binary = await resolveTemporal(cached);
  const program = await resolveMongo({ ...cached, ...defined({ mongodBinary }) });
  return { binary, program, programDir: cacheDir };
}

export async function startProgram(
  { name, script, args = [], environment, nodeFlags = [], probe, readyWithinMs }: Program,
  options: LocalOptions,
): Promise<ChildServer> {
  const run =
    typeof script === 'string'
      ? { command: script, args }
      : {
          command: process.execPath,
          args: [...typescriptFlags, ...nodeFlags, fileURLToPath(script), ...args],
        };
  const child = await startChild({
    ...options,
    name,
    ...run,
    environment:
      environment === undefined ? options.environment : { PATH: options.environment['PATH'], ...environment },
  });
  await waitUntilServing(child, probe, readyWithinMs ?? readyDeadlineMs);
  return child;
}

async function end(child: ChildServer): Promise<void> {
  if (child.hasExited()) return;
  process.kill(child.pid, 'SIGTERM');
  const deadline = new AbortController();
  const late = delay(endDeadlineMs, 'late' as const, { signal: deadline.signal }).catch(() => 'ended');
  if ((await Promise.race([child.exited, late])) === 'late') await child.kill();
  deadline.abort();
}

export async function waitUntil(
  what: string,
  check: () => Promise<boolean>,
  { deadlineMs = 60_000, everyMs = 100 } = {},
): Promise<void> {
  const endsAt = Date.now() + deadlineMs;
  while (!(await check())) {
    if (Date.now() > endsAt) throw new Error(`${what}: not within ${deadlineMs / 1000} s`);
    await delay(everyMs);
  }
}

const workflowQueue = 1;

export async function requirePoller({ temporal }: Pick<Stand, 'temporal'>, name: string): Promise<void> {
  const { pollers } = await temporal.workflowService.describeTaskQueue({
    namespace: 'default',
    taskQueue: { name },
    taskQueueType: workflowQueue,
  });
  if ((pollers ?? []).length === 0) throw new Error(`nobody polls the queue ${name}`);
}
