import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { waitUntil } from './processes.ts';

const projectDir = fileURLToPath(new URL('../..', import.meta.url));
const readyWithinMs = 180_000;

/** `npm start` or `npm run demo`, as the scripts of package.json run them. */
export interface LocalMode {
  output(): string;
  /** The commands of the banner. */
  commands(): string[];
  /** Resolves when the banner is there; fails if the process ends before. */
  ready(): Promise<void>;
  isRunning(): boolean;
  /** Ctrl-C; resolves when the process has ended. */
  interrupt(): Promise<void>;
  readonly ended: Promise<number | null>;
}

export interface LocalModeOptions {
  readonly script?: 'start' | 'demo';
  /** Nothing else of the test run's own environment is passed on but what a newcomer's shell has. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export function startLocalMode({
  script = 'start',
  environment = {},
  cwd = projectDir,
}: LocalModeOptions): LocalMode {
  const child: ChildProcess = spawn(
    process.execPath,
    ['--import', 'tsx/esm', 'src/local.ts', ...(script === 'demo' ? ['demo'] : [])],
    { cwd, env: { ...newcomersEnvironment(), ...environment }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = once(child, 'exit').then(([code]: unknown[]) => (typeof code === 'number' ? code : null));
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  return {
    output: () => output,
    commands: () => output.split('\n').filter((line) => /^ {2}(curl|id=)/.test(line)),
    async ready() {
      await waitUntil(
        'the banner',
        () => Promise.resolve(output.includes('Mediary is ready') || !isRunning()),
        readyWithinMs,
      );
      if (!output.includes('Mediary is ready')) throw new Error(`it ended:\n${output}`);
    },
    isRunning,
    async interrupt() {
      if (isRunning()) child.kill('SIGINT');
      await ended;
    },
    ended,
  };
}

function newcomersEnvironment(): Record<string, string> {
  const names = [
    'PATH',
    'HOME',
    'LANG',
    'JAVA_HOME',
    'HTTP_PROXY',
    'HTTPS_PROXY',
    'NO_PROXY',
    'PIP_INDEX_URL',
  ];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
