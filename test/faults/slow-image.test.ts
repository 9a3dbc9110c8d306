import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inspectImage } from '../../src/images/inspect-image.ts';
import { choosePort } from '../../src/local/servers/ports.ts';
import { startSimulator } from '../../workshop/simulator/simulator.ts';
import { adminCaller, caller, makeAccount, type Call, type TestAccount } from '../support/client.ts';
import { testEnvironment, videoBody } from '../support/gateway.ts';
import { startGatewayProcess, untilReady, waitUntil, type GatewayProcess } from '../support/processes.ts';

/**
 * While an image renders for ten minutes, a proxy cuts idle connections, and the API and the worker are killed with
 * SIGKILL. However the image was requested, there must be one submission, one charge and one picture. The test advances
 * the upstream's clock.
 */

const name = `i${randomBytes(4).toString('hex')}`;
const renderSeconds = 600;
const path = '/v1/images/generations';
let directory: string;
let simulator: Awaited<ReturnType<typeof startSimulator>>;
let proxy: Server;
const connections = new Map<string, Socket>();
let environment: NodeJS.ProcessEnv;
let processes: GatewayProcess[] = [];
let account: TestAccount;
let url: string;
let proxied: string;
let call: Call;

const start = () => {
  processes = (['worker', 'api'] as const).map((role) =>
    startGatewayProcess(role, environment, join(directory, `${role}.log`)),
  );
};

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), `mediary-${name}-`));
  simulator = await startSimulator({ host: '127.0.0.1', port: 0, apiKeys: ['simulated'], renderSeconds });
  const config = join(directory, 'gateway.yaml');
  await writeFile(config, yaml);
  const port = await choosePort('any', 'the API');
  url = `http://127.0.0.1:${port}`;
  proxy = createServer((client) => {
    const gateway = connect(port, '127.0.0.1');
    client.on('close', () => gateway.destroy()).on('error', () => undefined);
    gateway.on('close', () => client.destroy()).on('error', () => undefined);
    client.on('data', (bytes) => {
      const [prompt] = /slow-\w+/.exec(String(bytes)) ?? [];
      if (prompt !== undefined) connections.set(prompt, client);
    });
    client.pipe(gateway).pipe(client);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  proxied = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  environment = await testEnvironment(name, {
    GATEWAY_CONFIG: config,
    SIMULATOR_URL: simulator.url,
    ADMIN_TOKEN: randomBytes(16).toString('hex'),
    DATA_DIR: directory,
    PORT: String(port),
  });
  start();
  await untilReady(url);
  const admin = adminCaller(url, environment['ADMIN_TOKEN'] ?? '');
  account = await makeAccount({ url, admin, video: videoBody });
  call = caller(proxied, account.key);
});

afterAll(async () => {
  await Promise.all(processes.map((process) => process.kill()));
  proxy?.close();
  await simulator?.close();
  await rm(directory, { recursive: true, force: true });
});

const body = (prompt: string) => ({ model: 'wan', prompt });

/**
 * Different ways to request an image. Each returns the task id if the caller can still learn it after the proxy has cut
 * the connection.
 */
const asked = {
  async: async (prompt: string) =>
    (await call('POST', path, { body: { ...body(prompt), async: true } })).body.id,
  async stream(prompt: string) {
    const response = await fetch(proxied + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body(prompt), stream: true }),
    });
    connections.get(prompt)?.destroy();
    await expect(response.text()).rejects.toThrow();
    return response.headers.get('x-mediary-image') ?? '';
  },
  async wait(prompt: string) {
    const lost = waiting(prompt).then(
      () => 'answered',
      () => 'cut off',
    );
    await waitUntil('it is submitted', () =>
      Promise.resolve(simulator.control.submissions(prompt).creates === 1),
    );
    connections.get(prompt)?.destroy();
    expect(await lost).toBe('cut off');
    // The response with the id was lost. Repeating the request with the same idempotency key returns that id.
    return (await call('POST', path, { body: body(prompt), headers: { 'idempotency-key': prompt } })).body.id;
  },
};

const waiting = (prompt: string) =>
  call('POST', path, { body: body(prompt), headers: { 'idempotency-key': prompt, prefer: 'wait=60' } });

const isAccepted = (status: unknown) => status === 'submitted' || status === 'running';

it('can be retrieved by its id', async () => {
  const before = await account.balance();
  const made = await Promise.all(
    Object.entries(asked).map(async ([form, ask]) => ({
      prompt: `slow-${form}`,
      id: await ask(`slow-${form}`),
    })),
  );
  // This upstream cannot list jobs. If a process dies after the upstream accepts a job and before this is recorded, the
  // task needs an operator.
  for (const { prompt, id } of made)
    await waitUntil(prompt, async () => isAccepted((await call('GET', `${path}/${id}`)).body.status));
  await Promise.all(processes.map((process) => process.kill()));
  start();
  await untilReady(url);
  simulator.control.advance(renderSeconds);
  for (const { prompt, id } of made) {
    await waitUntil(prompt, async () => (await call('GET', `${path}/${id}`)).body.status === 'succeeded');
    const { body: task } = await call('GET', `${path}/${id}`);
    expect(task).toMatchObject({ charge: '0.020000', data: [{ url: expect.any(String) }] });
    const picture = await fetch(task.data[0].url);
    expect(inspectImage(new Uint8Array(await picture.arrayBuffer()))).toMatchObject({
      mediaType: 'image/png',
    });
    expect(simulator.control.submissions(prompt)).toEqual({ submits: 1, creates: 1 });
  }
  const { body: answer } = await waiting('slow-wait');
  expect(answer.data).toHaveLength(1);
  const after = await account.balance();
  expect(after.held).toBe('0.000000');
  expect(Number(before.available) - Number(after.available)).toBeCloseTo(0.06, 6);
});

const yaml = `
currency: USD
channels:
  - id: jobs
    provider: dashscope
    base_url: \${SIMULATOR_URL}/dashscope/api/v1
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    models: { wan: { upstream: wan2.2-t2i-flash } }
models:
  - id: wan
    kind: image
    expected_seconds: 1
    price: { lines: [{ measure: image, price: "0.02" }] }
`;
