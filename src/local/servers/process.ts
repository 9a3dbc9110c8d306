import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { messageOf } from '../../base/caught.ts';
import { afterRunning } from '../../process/running-time.ts';
import { LocalServerError, type LocalOptions } from './local-options.ts';
import {
  identifyProcess,
  isSameProcessAlive,
  processIdentitySchema,
  type ProcessIdentity,
} from '../../process/process-identity.ts';

const logBytesMax = 10_000_000;
const logTailLines = 15;
/** mongod logs about thirty other lines between an error and its exit. */
const mongodError = /"s":"[EF]"/;
const stopGraceMs = 8_000;
const pollIntervalMs = 40;

export type ChildOptions = LocalOptions & {
  /** Names the log and the pid file, so it must be unique in a data directory. */
  name: string;
  command: string;
  args: readonly string[];
  hasChannel?: boolean;
};

export type ChildServer = {
  name: string;
  pid: number;
  logFile: string;
  logOffset: number;
  exited: Promise<string>;
  hasExited(): boolean;
  /** Requires `hasChannel`. Does nothing if the child has exited. */
  send(message: object): void;
  stop(): Promise<void>;
  kill(): Promise<void>;
};

/**
 * Starts a server in its own session, so that Ctrl-C reaches only this process, which stops its servers in order. Even
 * after kill -9, the server exits with this process: a shell watches a pipe to this process and kills the server when
 * the pipe breaks. If there is no `sh`, the next start in the same directory kills the server instead.
 */
export async function startChild(options: ChildOptions): Promise<ChildServer> {
  await endLeftover(options);
  const logFile = await prepareLog(options);
  const log = await open(logFile, 'a');
  const { size: logOffset } = await log.stat();
  try {
    const child = spawn(options.command, options.args, {
      // Saves memory. By default, glibc gives each thread its own arena and keeps the memory that the threads have
      // freed.
      env: { MALLOC_ARENA_MAX: '2', ...options.environment },
      stdio: ['ignore', log.fd, log.fd, ...(options.hasChannel === true ? (['ipc'] as const) : [])],
      detached: true,
    });
    const pid = await spawned(child, options);
    const watcher = watch(pid);
    const server = describeChild(child, pid, { name: options.name, logFile, logOffset });
    server.exited.then(watcher.end, watcher.end);
    await writePidFile(options, pid);
    return server;
  } finally {
    await log.close();
  }
}

/**
 * Repeats the probe until it succeeds. If the process exits or the time runs out, the error contains the end of the
 * process's log.
 */
export async function waitUntilServing(
  child: ChildServer,
  probe: () => Promise<unknown>,
  deadlineMs: number,
): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    try {
      // Also stop waiting when the process exits, because another program on the port may never respond.
      await Promise.race([probe(), child.exited]);
      // If the process has exited, the response came from another server that already used the port.
      if (!child.hasExited()) {
        return;
      }
      throw new LocalServerError('another server is listening on its port');
    } catch (error) {
      if (child.hasExited()) {
        throw await failure(child, `${child.name} ${await child.exited}`);
      }
      if (Date.now() > deadline) {
        await child.kill();
        throw await failure(child, `${child.name} does not respond: ${messageOf(error)}`);
      }
      await delay(pollIntervalMs);
    }
  }
}

async function failure(child: ChildServer, what: string): Promise<LocalServerError> {
  const log = await readFile(child.logFile).catch(() => Buffer.alloc(0));
  const lines = log.toString('utf8', child.logOffset).trimEnd().split('\n');
  const errors = lines.filter((line) => mongodError.test(line));
  const tail = (errors.length > 0 ? errors : lines).slice(-logTailLines);
  return new LocalServerError([`${what}. The end of ${child.logFile}:`, ...tail].join('\n  '));
}

function spawned(child: ChildProcess, options: ChildOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) =>
      reject(new LocalServerError(`${options.name} cannot be started: ${error.message}`, { cause: error })),
    );
    child.once('spawn', () => resolve(child.pid ?? 0));
  });
}

function describeChild(
  child: ChildProcess,
  pid: number,
  about: Pick<ChildServer, 'name' | 'logFile' | 'logOffset'>,
): ChildServer {
  let gone = false;
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      gone = true;
      resolve(signal === null ? `exited with status ${code}` : `was ended by ${signal}`);
    });
  });
  child.unref();
  child.channel?.unref();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.ref();
    child.kill(signal);
    await exited;
  };
  return {
    ...about,
    pid,
    exited,
    hasExited: () => gone,
    send: (message) => void child.send(message, () => undefined),
    kill: () => end('SIGKILL'),
    stop: async () => {
      const cancel = afterRunning(stopGraceMs, () => child.kill('SIGKILL'));
      await end('SIGTERM');
      cancel();
    },
  };
}

const watcherScript = 'cat >/dev/null; kill -TERM "$0"; sleep 5; kill -KILL "$0"';

function watch(pid: number): { end: () => void } {
  const watcher = spawn('sh', ['-c', watcherScript, String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watcher.on('error', () => undefined);
  watcher.unref();
  if (watcher.stdin instanceof Socket) {
    watcher.stdin.unref();
  }
  return {
    end: () => {
      if (watcher.pid !== undefined && watcher.exitCode === null) {
        killGroup(watcher.pid);
      }
    },
  };
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // The group has already exited, so there is nothing to kill.
  }
}

async function prepareLog(options: ChildOptions): Promise<string> {
  const directory = join(options.dataDir, 'logs');
  await mkdir(directory, { recursive: true });
  const file = join(directory, `${options.name}.log`);
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  if (size > logBytesMax) {
    await rename(file, `${file}.1`);
  }
  return file;
}

function pidFile(options: ChildOptions): string {
  return join(options.dataDir, 'run', `${options.name}.json`);
}

async function writePidFile(options: ChildOptions, pid: number): Promise<void> {
  const identity = await identifyProcess(pid);
  if (identity !== undefined) {
    await mkdir(join(options.dataDir, 'run'), { recursive: true });
    await writeFile(pidFile(options), JSON.stringify(identity));
  }
}

async function readPidFile(options: ChildOptions): Promise<ProcessIdentity | undefined> {
  try {
    return processIdentitySchema.parse(JSON.parse(await readFile(pidFile(options), 'utf8')));
  } catch {
    return undefined;
  }
}

/** Ends a server left over from an earlier run, which would still lock the data files. */
async function endLeftover(options: ChildOptions): Promise<void> {
  const leftover = await readPidFile(options);
  if (leftover === undefined || leftover.startedAt === '' || !(await isSameProcessAlive(leftover))) {
    return;
  }
  options.report(`Ending ${options.name} (pid ${leftover.pid}), left over from an earlier run.`, 'lasting');
  process.kill(leftover.pid, 'SIGTERM');
  const forceAt = Date.now() + stopGraceMs;
  // The server is not a child of this process, so there is no exit event to wait for.
  while (await isSameProcessAlive(leftover)) {
    if (Date.now() > forceAt) {
      process.kill(leftover.pid, 'SIGKILL');
    }
    await delay(pollIntervalMs);
  }
  await rm(pidFile(options), { force: true });
}
