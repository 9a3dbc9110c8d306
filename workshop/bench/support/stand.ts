import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';

import type { LocalOptions } from '../../../src/local/servers/local-options.ts';
import { startMongoServer } from '../../../src/local/servers/mongodb-server.ts';
import type { MongoOptions } from '../../../src/local/servers/mongodb-server.ts';
import { resolveMongo } from '../../../src/local/servers/mongodb-source.ts';
import { choosePort } from '../../../src/local/servers/ports.ts';
import { startChild, waitUntilServing } from '../../../src/local/servers/process.ts';
import type { ChildServer } from '../../../src/local/servers/process.ts';
import { startTemporalServer } from '../../../src/local/servers/temporal-server.ts';
import { resolveTemporal } from '../../../src/local/servers/temporal-source.ts';
import { closeOnSignal } from './close-on-signal.ts';

const projectDir = fileURLToPath(new URL('../../..', import.meta.url));
/** Programs are fetched once and kept where the local mode keeps them too. */
export const cacheDir: string = process.env['MEDIARY_CACHE_DIR'] ?? join(projectDir, '.mediary');
const readyDeadlineMs = 180_000;
/** A profile is written when the process ends, and a worker ends when its activities have. */
const endDeadlineMs = 60_000;

/** The servers of one bench: its own, on free ports, in a temporary directory. */
export interface Stand {
  readonly directory: string;
  readonly temporalAddress: string;
  readonly mongodbUri: string;
  readonly mongoKind: 'mongod' | 'java';
  readonly temporal: Client;
  /** Of everything that runs, by name; `bench` is the load generator's own. */
  readonly pids: Readonly<Record<string, number>>;
  /** Starts a program in a process of its own, and waits until `probe` succeeds. */
  startProgram(program: Program): Promise<ChildServer>;
  /** Ends one program, by its pid, and waits for it. */
  endProgram(name: string): Promise<void>;
  freePort(): Promise<number>;
  /** Ends everything that was started, last first, and removes the directory. */
  close(): Promise<void>;
}

export interface Program {
  readonly name: string;
  /** TypeScript, run by this Node with tsx; or another program's path. */
  readonly script: URL | string;
  readonly args?: readonly string[];
  /** Beside PATH; absent: the bench's own. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly nodeFlags?: readonly string[];
  readonly probe: () => Promise<unknown>;
  readonly readyWithinMs?: number;
}

export async function openStand(settings: Pick<MongoOptions, 'heapMegabytes'> = {}): Promise<Stand> {
  const directory = await mkdtemp(join(tmpdir(), 'mediary-bench-'));
  const options: LocalOptions = {
    dataDir: directory,
    report: (line) => console.error(line),
    environment: process.env,
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
    const [temporal, mongo] = await Promise.all([
      startTemporal(options),
      startMongo({ ...options, ...settings }),
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
      freePort: () => choosePort('any', 'a program of the bench'),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startTemporal(options: LocalOptions) {
  const binary = await resolveTemporal({ ...options, dataDir: cacheDir });
  return startTemporalServer({ ...options, binary, port: 'any', uiPort: 'none' });
}

async function startMongo(options: LocalOptions & Pick<MongoOptions, 'heapMegabytes'>) {
  const mongodBinary = process.env['MONGOD_BINARY'];
  const program = await resolveMongo({
    ...options,
    dataDir: cacheDir,
    ...(mongodBinary === undefined ? {} : { mongodBinary }),
  });
  return startMongoServer({ ...options, program, programDir: cacheDir, port: 'any' });
}

async function startProgram(
  { name, script, args = [], environment, nodeFlags = [], probe, readyWithinMs }: Program,
  options: LocalOptions,
): Promise<ChildServer> {
  const run =
    typeof script === 'string'
      ? { command: script, args }
      : {
          command: process.execPath,
          args: [...nodeFlags, '--import', 'tsx', fileURLToPath(script), ...args],
        };
  const child = await startChild({
    ...options,
    name,
    ...run,
    environment:
      environment === undefined ? options.environment : { PATH: process.env['PATH'], ...environment },
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

/** Repeats the check until it holds; fails after the deadline with what it said last. */
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

export type TaskQueueKind = 'workflow' | 'activity';
const queueKinds = { workflow: 1, activity: 2 } as const;

/** Rejects unless a worker polls the queue. */
export async function requirePoller(
  { temporal }: Pick<Stand, 'temporal'>,
  name: string,
  kind: TaskQueueKind,
): Promise<void> {
  const { pollers } = await temporal.workflowService.describeTaskQueue({
    namespace: 'default',
    taskQueue: { name },
    taskQueueType: queueKinds[kind],
  });
  if ((pollers ?? []).length === 0) throw new Error(`nobody polls the ${kind} queue ${name}`);
}
