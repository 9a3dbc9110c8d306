import { spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { readCompose, readRepositoryFile } from './compose-file.ts';

/** Runs the health checks exactly as written in the files. The test chooses the server's responses. */
const { services } = readCompose();
const servers: Server[] = [];

async function serve(
  answers: Readonly<Record<string, readonly [status: number, body: string]>>,
): Promise<string> {
  const server = createServer((request, response) => {
    const [status, body] = answers[request.url ?? ''] ?? [404, ''];
    response.writeHead(status).end(body);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return String((server.address() as AddressInfo).port);
}

function run(test: readonly string[], environment: Record<string, string>): Promise<number | null> {
  const [command = '', ...args] = test.slice(1);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env: { PATH: process.env['PATH'], ...environment },
      stdio: 'ignore',
    });
    child.on('error', reject).on('exit', resolve);
  });
}

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const deadPort = '9';

describe.each([
  ['docker-compose.yml', services['api']?.healthcheck?.test ?? []],
  [
    'Dockerfile',
    [
      'CMD',
      ...(JSON.parse(/^ {2}CMD (\[.*\])$/m.exec(readRepositoryFile('Dockerfile'))?.[1] ?? '[]') as string[]),
    ],
  ],
])('the check of the API in %s', (_, check) => {
  it('passes if the process responds', async () => {
    const PORT = await serve({ '/healthz': [200, '{"status":"ok"}'] });
    expect(await run(check, { PORT })).toBe(0);
  });

  it('fails if the process responds with an error, or not at all', async () => {
    const PORT = await serve({ '/healthz': [500, ''] });
    expect(await run(check, { PORT })).toBe(1);
    expect(await run(check, { PORT: deadPort })).toBe(1);
  });
});

describe('the check of the worker', () => {
  const check = services['worker']?.healthcheck?.test ?? [];
  const gauge = (pollers: number) =>
    `# TYPE temporal_num_pollers gauge\ntemporal_num_pollers{namespace="default",poller_type="workflow_task"} ${pollers}\n`;

  it('passes while it polls a task queue', async () => {
    const METRICS_PORT = await serve({ '/metrics': [200, gauge(2)] });
    expect(await run(check, { METRICS_PORT })).toBe(0);
  });

  it('fails if nothing polls or responds', async () => {
    const METRICS_PORT = await serve({ '/metrics': [200, gauge(0)] });
    expect(await run(check, { METRICS_PORT })).toBe(1);
    expect(await run(check, { METRICS_PORT: deadPort })).toBe(1);
  });
});
