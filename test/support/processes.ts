import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A gateway process of its own, as an operator starts it, that a test may kill. */
export interface GatewayProcess {
  readonly pid: number;
  /** SIGKILL, as a crash would. */
  kill(): Promise<void>;
  /** SIGTERM, as an operator would; resolves with the exit status. */
  stop(): Promise<number | null>;
}

const projectDir = fileURLToPath(new URL('../..', import.meta.url));

export function startGatewayProcess(
  role: 'api' | 'worker',
  environment: NodeJS.ProcessEnv,
  logFile: string,
): GatewayProcess {
  const child: ChildProcess = spawn(process.execPath, ['src/gateway.js', role], {
    cwd: projectDir,
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log = createWriteStream(logFile, { flags: 'a' });
  child.stdout?.pipe(log, { end: false });
  child.stderr?.pipe(log, { end: false });
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    child.kill(signal);
    await once(child, 'exit');
    return child.exitCode;
  };
  return {
    pid: child.pid ?? 0,
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  };
}

export async function waitUntil(
  what: string,
  check: () => Promise<boolean>,
  deadlineMs = 60_000,
): Promise<void> {
  const endsAt = Date.now() + deadlineMs;
  for (;;) {
    if (await check().catch(() => false)) return;
    if (Date.now() > endsAt) throw new Error(`${what}: not within ${deadlineMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
