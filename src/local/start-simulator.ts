import { extname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import type { LocalOptions } from './servers/local-options.ts';
import { startOnPort } from './servers/ports.ts';
import { startChild, waitUntilServing } from './servers/process.ts';
import { supervise } from './servers/supervisor.ts';
import type { Started } from './start-servers.ts';

const readyDeadlineMs = 60_000;
const projectDir = fileURLToPath(new URL('../..', import.meta.url));
/** A JavaScript file in the npm package, and a TypeScript file in the repository. */
const program = `workshop/simulator/main${extname(fileURLToPath(import.meta.url))}`;

export async function startSimulator(
  preferred: number,
  options: LocalOptions,
  started: Started,
): Promise<string> {
  return startOnPort({ preferred }, 'the simulator', (port) => startOn(port, options, started));
}

async function startOn(port: number, options: LocalOptions, started: Started): Promise<string> {
  const stateFile = resolve(options.dataDir, 'simulator.jsonl');
  const loader = new URL('../typescript.js', import.meta.url).href;
  const terms = ['--port', String(port), '--state-file', stateFile];
  const args = ['--import', loader, resolve(projectDir, program), ...terms];
  const start = () => startChild({ ...options, name: 'simulator', command: process.execPath, args });
  const first = await start();
  const url = `http://127.0.0.1:${port}`;
  await waitUntilServing(first, async () => (await request(url)).body.dump(), readyDeadlineMs);
  started.push(supervise(first, start, options.report));
  return url;
}
