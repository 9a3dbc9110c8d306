import { spawn } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';

import { afterRunning } from '../../process/running-time.ts';
import type { LocalOptions, Report } from './local-options.ts';
import { isExecutable } from './program-files.ts';

const outputCharactersMax = 100_000;
const reasonCharactersMax = 300;
/** For commands that only print information. A busy machine needs more than 20 seconds to start Python or Java. */
const shortTimeoutMs = 60_000;
const connectTimeoutMs = 4_000;
const heartbeatMs = 5_000;

export type CommandResult = { ok: boolean; output: string };

/** `output` combines stdout and stderr. `ok` is false if the program is missing, fails or takes too long. */
export function runCommand(
  [program = '', ...args]: readonly string[],
  { environment: env }: Pick<LocalOptions, 'environment'>,
  timeoutMs = shortTimeoutMs,
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output = (output + chunk.toString('utf8')).slice(-outputCharactersMax);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    const cancel = afterRunning(timeoutMs, () => {
      output += `\nerror: timed out after ${timeoutMs / 1000} s`;
      child.kill('SIGKILL');
      // A grandchild may keep these streams open.
      child.stdout.destroy();
      child.stderr.destroy();
    });
    child.once('error', (error) => {
      cancel();
      resolve({ ok: false, output: error.message });
    });
    child.once('close', (code) => {
      cancel();
      resolve({ ok: code === 0, output });
    });
  });
}

export function reasonIn(output: string): string {
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const at = lines.findLastIndex((line) => /error|fail|unable|cannot|could not/iu.test(line));
  const reason = lines[at] ?? lines.at(-1) ?? 'no output';
  const announced = reason.endsWith(':') ? ` ${lines[at + 1] ?? ''}` : '';
  return (reason + announced).slice(0, reasonCharactersMax);
}

export async function findOnPath(
  names: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const directories = (environment['PATH'] ?? '').split(delimiter).filter((directory) => directory !== '');
  const candidates = names.flatMap((name) => directories.map((directory) => join(directory, name + suffix)));
  const usable = await Promise.all(candidates.map(isExecutable));
  return candidates[usable.indexOf(true)];
}

/**
 * Waits at most four seconds, so that a blocked network does not cause a long delay. Returns true if a proxy is
 * configured, because only the download itself shows whether the proxy works.
 */
export async function canReach(host: string, environment: NodeJS.ProcessEnv): Promise<boolean> {
  const proxies = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'];
  if (proxies.some((name) => (environment[name] ?? '') !== '')) {
    return true;
  }
  return new Promise((resolve) => {
    const socket = connect({ host, port: 443 });
    const finish = (reached: boolean): void => {
      cancel();
      socket.destroy();
      resolve(reached);
    };
    // The socket's own timeout does not cover the DNS lookup.
    const cancel = afterRunning(connectTimeoutMs, () => finish(false));
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}

/** Every five seconds, reports how much is in `directory` and how much time has passed. */
export async function withProgress<T>(
  report: Report,
  { what, directory }: { readonly what: string; readonly directory: string },
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = Date.now();
  let isOver = false;
  report(`${what} …`);
  const heartbeat = setInterval(() => {
    void bytesIn(directory).then((bytes) => {
      if (isOver) return;
      const seconds = Math.round((Date.now() - startedAt) / 1000);
      report(`${what} … ${(bytes / 1e6).toFixed(1)} MB after ${seconds} s`);
    });
  }, heartbeatMs);
  try {
    return await work();
  } finally {
    isOver = true;
    clearInterval(heartbeat);
  }
}

/** Counts a file as empty if it disappears while the sizes are read. */
async function bytesIn(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) =>
        stat(join(entry.parentPath, entry.name)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
