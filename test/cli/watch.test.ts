import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const project = fileURLToPath(new URL('../..', import.meta.url));

async function changingGateway(): Promise<string> {
  let looks = 0;
  const server = createServer((_, response) => {
    looks += 1;
    const body =
      looks === 2
        ? { error: { message: 'Not now.', code: 'service_unavailable' } }
        : { data: [{ id: `account-${looks}` }] };
    response.writeHead(looks === 2 ? 503 : 200).end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function gateway(url: string, ...line: string[]) {
  const child = spawn(process.execPath, ['src/gateway.js', '--url', url, ...line], {
    cwd: project,
    env: { PATH: process.env['PATH'], ADMIN_TOKEN: 'a-token-of-operators-for-this-test' },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk: Buffer) => (said[name] += chunk.toString()));
  return { child, said };
}

it.each([['accounts', 'list'], ['audit']])(
  'shows a list again while the gateway comes and goes, and ends silently at Ctrl-C: %s %s',
  async (...list) => {
    const { child, said } = gateway(await changingGateway(), ...list, '--watch', '-o', 'jsonl');
    await expect.poll(() => said.stdout).toContain('account-3');
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(said.stderr).toBe('');
    expect(said.stdout).toMatch(/^\{"id":"account-1"\}\nNot now\. .*\n\{"id":"account-3"\}\n/);
  },
);

const script = '/usr/bin/script';

it.skipIf(!existsSync(script))('shows only the latest list on a terminal', async () => {
  const line = `${process.execPath} src/gateway.js --url ${await changingGateway()} accounts list -w`;
  const child = spawn(script, ['-qec', line, '/dev/null'], {
    cwd: project,
    env: { PATH: process.env['PATH'], ADMIN_TOKEN: 'a-token-of-operators-for-this-test' },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  const clearScreen = '\u001B[H\u001B[2J';
  await expect.poll(() => stdout.split(clearScreen)[2]).toContain('Not now');
  expect(stdout.split(clearScreen)[1]).toMatch(/ID.*account-1/s);
});
