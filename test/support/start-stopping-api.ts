import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { RacePoint } from '../../src/base/race-point.ts';
import { loadsTypeScript } from './typescript.ts';

export interface StoppingApi {
  readonly child: ChildProcess;
  readonly closed: Promise<unknown>;
  readonly url: string;
  readonly lines: string[];
}

export interface StoppingApiOptions {
  readonly at?: RacePoint;
  readonly aheadMs?: number;
  readonly works?: true;
}

export async function startStoppingApi(
  environment: NodeJS.ProcessEnv,
  { at, aheadMs = 0, works }: StoppingApiOptions = {},
): Promise<StoppingApi> {
  const script = fileURLToPath(new URL('stopping-api.ts', import.meta.url));
  const role = works === true ? 'worker' : 'api';
  const child = spawn(process.execPath, [...loadsTypeScript, script, at ?? 'never', `${aheadMs}`, role], {
    env: { PATH: process.env['PATH'], NODE_OPTIONS: process.env['NODE_OPTIONS'], ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const closed = once(child, 'close');
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  const first = once(reader, 'line');
  reader.on('line', (line) => lines.push(line));
  const [url]: unknown[] = await first;
  return { child, closed, url: String(url), lines };
}
