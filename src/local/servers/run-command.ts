import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';

import type { LocalOptions, Report } from './local-options.ts';
import { isExecutable } from './program-files.ts';

const outputCharactersMax = 100_000;
const reasonCharactersMax = 300;
/** Of a program that only says something of itself. */
const shortTimeoutMs = 20_000;
const connectTimeoutMs = 4_000;
const heartbeatMs = 5_000;

export type CommandResult = { ok: boolean; output: string };

/** Runs a program to its end; `output` is both of its streams. A program that is missing or hangs is not ok. */
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
    const timer = setTimeout(() => {
      output += `\nerror: timed out after ${timeoutMs / 1000} s`;
      child.kill('SIGKILL');
      // A grandchild may hold the streams open; nothing more is read from them.
      child.stdout.destroy();
      child.stderr.destroy();
    }, timeoutMs);
    child.once('error', (error) => {
      clearTimeout(timer);
      resolve({ ok: false, output: error.message });
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ ok: code === 0, output });
    });
  });
}

/** The line of a failed program's output that says most: the last one that speaks of an error. */
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

/** The first executable file of one of these names on PATH. */
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
 * Whether a host answers within four seconds, so that a closed network costs no more. Behind a proxy nothing is
 * asked: the download finds out itself.
 */
export async function canReach(host: string, environment: NodeJS.ProcessEnv): Promise<boolean> {
  const proxies = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'];
  if (proxies.some((name) => (environment[name] ?? '') !== '')) {
    return true;
  }
  return new Promise((resolve) => {
    const socket = connect({ host, port: 443 });
    const finish = (reached: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(reached);
    };
    // The socket's own timeout does not cover the look-up of the name.
    const timer = setTimeout(() => finish(false), connectTimeoutMs);
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}

/** Says what is being done, that it still is every five seconds, and how long it took. */
export async function withProgress<T>(report: Report, what: string, work: () => Promise<T>): Promise<T> {
  const startedAt = Date.now();
  const seconds = (): string => `${Math.round((Date.now() - startedAt) / 1000)} s`;
  report(`${what} …`);
  const heartbeat = setInterval(() => report(`${what} … ${seconds()}`), heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
  }
}
