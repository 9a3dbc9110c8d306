import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitUntil } from './processes.ts';

const projectDir = fileURLToPath(new URL('../..', import.meta.url));
const readyWithinMs = 400_000;

/** `npm start` or `npm run demo`, started exactly as in package.json. */
export interface LocalMode {
  output(): string;
  commands(): string[];
  ready(): Promise<void>;
  isRunning(): boolean;
  interrupt(): Promise<void>;
  terminate(): Promise<void>;
  readonly ended: Promise<number | null>;
}

export interface LocalModeOptions {
  readonly script?: 'start' | 'demo';
  readonly environment?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly npm?: boolean;
}

export function startLocalMode({
  script = 'start',
  environment = {},
  cwd = projectDir,
  npm = false,
}: LocalModeOptions): LocalMode {
  const line = ['src/mediary.js', ...(script === 'demo' ? ['demo'] : [])];
  const child: ChildProcess = spawn(npm ? 'npm' : process.execPath, npm ? ['run', script] : line, {
    cwd,
    env: { ...newcomersEnvironment(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  // Wait for `close` rather than `exit`, because output may still be unread when the process exits.
  const ended = once(child, 'close').then(([code]: unknown[]) => (typeof code === 'number' ? code : null));
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  const endWith = async (signal: NodeJS.Signals): Promise<void> => {
    if (isRunning()) child.kill(signal);
    await ended;
  };
  return {
    output: () => output,
    commands: () => output.split('\n').filter((line) => /^ {2}(curl|id=)/.test(line)),
    async ready() {
      await waitUntil(
        'the banner',
        () => Promise.resolve(output.includes('Mediary is ready') || !isRunning()),
        readyWithinMs,
      );
      if (!isRunning()) await ended;
      if (!output.includes('Mediary is ready')) throw new Error(`it ended:\n${output}`);
    },
    isRunning,
    interrupt: () => endWith('SIGINT'),
    terminate: () => endWith('SIGTERM'),
    ended,
  };
}

export async function pidsOf(dataDir: string): Promise<number[]> {
  const inRun = (await readdir(join(dataDir, 'run'))).map((name) => join('run', name));
  const locks = (await readdir(dataDir)).filter((name) => name.startsWith('lock.'));
  const texts = await Promise.all([...inRun, ...locks].map((name) => readFile(join(dataDir, name), 'utf8')));
  return texts.map((text) => Number(JSON.parse(text).pid));
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function newcomersEnvironment(): Record<string, string> {
  const names = 'PATH HOME LANG JAVA_HOME HTTP_PROXY HTTPS_PROXY NO_PROXY PIP_INDEX_URL'.split(' ');
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
