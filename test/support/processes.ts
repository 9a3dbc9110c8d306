import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

export interface GatewayProcess {
  readonly pid: number;
  kill(): Promise<void>;
  stop(): Promise<number | null>;
  signal(signal: NodeJS.Signals): void;
  readonly ended: Promise<number | NodeJS.Signals>;
  logged(text: string): Promise<void>;
}

const projectDir = fileURLToPath(new URL('../..', import.meta.url));

export function startGatewayProcess(
  role: 'api' | 'worker',
  environment: NodeJS.ProcessEnv,
  logFile: string,
): GatewayProcess {
  const log = openSync(logFile, 'a');
  const child: ChildProcess = spawn(process.execPath, ['src/gateway.js', role], {
    cwd: projectDir,
    env: { PATH: process.env['PATH'], NODE_OPTIONS: process.env['NODE_OPTIONS'], ...environment },
    // The process writes to the file directly, so that the log is complete when the process exits.
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  const ended = once(child, 'exit').then(() => child.exitCode ?? child.signalCode ?? 'SIGKILL');
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (isRunning()) child.kill(signal);
    await ended;
    return child.exitCode;
  };
  return {
    pid: child.pid ?? 0,
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
    signal: (signal) => void child.kill(signal),
    ended,
    logged(text) {
      const isLogged = async (): Promise<boolean> => (await readFile(logFile, 'utf8')).includes(text);
      const over = ended.then(async () => {
        if (!(await isLogged())) throw new Error(`the ${role} ended without logging "${text}"`);
      });
      return Promise.race([waitUntil(`the ${role} logs "${text}"`, isLogged), over]);
    },
  };
}

export async function waitUntil(
  what: string,
  check: () => Promise<boolean>,
  deadlineMs = 180_000,
): Promise<void> {
  const endsAt = Date.now() + deadlineMs;
  let cause: unknown;
  const isSo = () =>
    check().catch((error: unknown) => {
      cause = error;
      return false;
    });
  for (;;) {
    if (await isSo()) return;
    if (Date.now() > endsAt) throw new Error(`${what}: not within ${deadlineMs / 1000} s`, { cause });
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export function untilReady(url: string, deadlineMs?: number): Promise<void> {
  const isReady = async () => (await (await fetch(`${url}/readyz`)).text()).includes('"warnings":[]');
  return waitUntil(`${url} is ready`, isReady, deadlineMs);
}
