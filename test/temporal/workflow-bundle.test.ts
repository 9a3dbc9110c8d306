import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { waitUntil } from '../support/processes.ts';
import { loadsTypeScript } from '../support/typescript.ts';

const program = fileURLToPath(new URL('./programs/bundle-workflows.ts', import.meta.url));

it('the worker handles a Ctrl-C during bundling, and the bundler finishes', async () => {
  // The program has its own process group, like a command in a terminal.
  const child = spawn(process.execPath, [...loadsTypeScript, program], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const closed = once(child, 'close');
  await waitUntil('it begins', () => Promise.resolve(output.includes('the bundler runs')));
  process.kill(-(child.pid ?? 0), 'SIGINT');
  expect([await closed, output]).toEqual([[0, null], 'the bundler runs\nbundled\n']);
});
