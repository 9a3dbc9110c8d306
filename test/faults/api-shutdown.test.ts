import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { choosePort } from '../../src/local/servers/ports.ts';
import { imageYaml, pixel, sendImages, startImageUpstream, type ImageUpstream } from '../images/support.ts';
import { caller, send, type Call, type TestAccount } from '../support/client.ts';
import { startGateway, testYaml, videoBody, type TestGateway } from '../support/gateway.ts';
import { startGatewayProcess, waitUntil, type GatewayProcess } from '../support/processes.ts';
import { startSilentServer } from '../support/silent-server.ts';

let upstream: ImageUpstream;
let gateway: TestGateway;
let account: TestAccount;
let directory: string;
const started: GatewayProcess[] = [];
let launched = 0;
const sockets: Socket[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-shutdown-'));
  upstream = await startImageUpstream();
  const clips = partOf(testYaml, 'channels').replace('id: ark', 'id: clips');
  const yaml = imageYaml({ first: upstream.url }).replace(
    /^models:\n/m,
    `${clips}models:\n${partOf(testYaml, 'models')}`,
  );
  gateway = await startGateway({ yaml, worker: false });
  account = await gateway.account();
});
afterEach(async () => {
  upstream.answer = sendImages;
  upstream.calls.length = 0;
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(started.splice(0).map((api) => api.kill()));
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
  await rm(directory, { recursive: true, force: true });
});

function partOf(yaml: string, list: 'channels' | 'models'): string {
  return new RegExp(`^${list}:\\n((?: +.*\\n)+)`, 'm').exec(yaml)?.[1] ?? '';
}

interface Api {
  readonly process: GatewayProcess;
  readonly url: string;
  readonly call: Call;
  terminate(): Promise<void>;
}

async function startApiProcess(environment: NodeJS.ProcessEnv = {}): Promise<Api> {
  const port = await choosePort('any', 'the API');
  const api = launch({ SHUTDOWN_GRACE_SECONDS: '60', ...environment, PORT: String(port) });
  await api.logged('"started"');
  const url = `http://127.0.0.1:${port}`;
  return {
    process: api,
    url,
    call: caller(url, account.key),
    async terminate() {
      api.signal('SIGTERM');
      await api.logged('shutting down');
    },
  };
}

function launch(environment: NodeJS.ProcessEnv): GatewayProcess {
  const logFile = join(directory, `api-${(launched += 1)}.log`);
  const api = startGatewayProcess('api', { ...gateway.environment, ...environment }, logFile);
  started.push(api);
  return api;
}

const isHeldNothing = async (): Promise<boolean> => (await account.balance()).held === '0.000000';
const leases = () => gateway.core.mongo.db.collection('image_leases');

async function beginUpload(url: string) {
  const boundary = 'xxBOUNDARYxx';
  const field = (name: string, value: string): Buffer =>
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
  const head = Buffer.from(
    `--${boundary}\r\ncontent-disposition: form-data; name="image"; filename="a.png"\r\ncontent-type: image/png\r\n\r\n`,
  );
  const body = Buffer.concat([
    field('model', 'gpt-image'),
    field('prompt', 'a red cube'),
    head,
    pixel,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString()));
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const half = body.length >> 1;
  socket.write(
    `POST /v1/images/edits HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${account.key}\r\n` +
      `content-type: multipart/form-data; boundary=${boundary}\r\ncontent-length: ${body.length}\r\n` +
      `expect: 100-continue\r\n\r\n`,
  );
  await waitUntil('the body is asked for', async () => received.startsWith('HTTP/1.1 100'));
  socket.write(body.subarray(0, half));
  return {
    closed,
    answer: () => received.replace(/^HTTP\/1\.1 100[^]*?\r\n\r\n/, ''),
    finish: () => socket.write(body.subarray(half)),
  };
}

describe('SIGTERM with requests in flight', () => {
  it('ends requests that wait for a task at once, and refuses new connections', async () => {
    const metricsPort = await choosePort('any', 'the metrics');
    const api = await startApiProcess({ METRICS_PORT: String(metricsPort) });
    // Use a separate account, because this hold is never released while there is no worker.
    const call = caller(api.url, (await gateway.account()).key);
    const created = await call('POST', '/v1/videos/generations', { body: videoBody });
    expect(created.status).toBe(200);
    const waiting = call('GET', `/v1/videos/generations/${created.body.id}?wait=30`);
    await waitUntil('a request waits', async () =>
      /^mediary_http_waiting_requests(?:\{[^}]*\})? 1$/m.test(
        (await send(`http://127.0.0.1:${metricsPort}`, 'GET', '/metrics')).text,
      ),
    );
    await api.terminate();
    const answer = await waiting;
    expect([answer.status, answer.body.status, answer.headers['connection']]).toEqual([
      200,
      'pending',
      'close',
    ]);
    expect(await api.process.ended).toBe(0);
    await expect(send(api.url, 'GET', '/healthz')).rejects.toThrow('ECONNREFUSED');
  });

  it('reads the rest of an upload, renders its image and charges it', async () => {
    const api = await startApiProcess();
    const before = (await account.balance()).available;
    const upload = await beginUpload(api.url);
    await api.terminate();
    expect(upload.answer()).toBe('');
    upload.finish();
    await upload.closed;
    expect(upload.answer()).toMatch(/^HTTP\/1\.1 200 [^]*\r\nconnection: close\r\n[^]*"b64_json"/i);
    expect(await api.process.ended).toBe(0);
    expect(upstream.calls).toHaveLength(1);
    expect(upstream.calls[0]?.body.includes(pixel)).toBe(true);
    const { available, held } = await account.balance();
    expect([(Number(before) - Number(available)).toFixed(6), held]).toEqual(['0.040000', '0.000000']);
    expect(await leases().countDocuments({})).toBe(0);
  });

  it('waits for an image that its upstream is still rendering, whatever signals follow', async () => {
    const api = await startApiProcess();
    let finish: (() => void) | undefined;
    upstream.answer = (call, response) => {
      finish = () => sendImages(call, response);
    };
    const body = { model: 'gpt-image', prompt: 'a red cube' };
    const asked = api.call('POST', '/v1/images/generations', { body });
    await waitUntil('the upstream has the request', async () => finish !== undefined);
    await api.terminate();
    api.process.signal('SIGTERM');
    api.process.signal('SIGINT');
    finish?.();
    expect((await asked).status).toBe(200);
    expect(await api.process.ended).toBe(0);
    expect(await isHeldNothing()).toBe(true);
    expect(await leases().countDocuments({})).toBe(0);
  });

  it('cuts off anything that does not end within the grace period, and nothing stays held', async () => {
    const api = await startApiProcess({ SHUTDOWN_GRACE_SECONDS: '1' });
    const { available } = await account.balance();
    const upload = await beginUpload(api.url);
    await api.terminate();
    await upload.closed;
    expect(upload.answer()).toBe('');
    expect(await api.process.ended).toBe(0);
    expect(upstream.calls).toHaveLength(0);
    expect(await account.balance()).toMatchObject({ available, held: '0.000000' });
  });
});

it('SIGTERM during the start ends it', async () => {
  const silent = await startSilentServer();
  const api = launch({ MONGODB_URI: `mongodb://${silent.address}/x` });
  await silent.connected;
  api.signal('SIGTERM');
  expect(await api.ended).toBe(0);
});
