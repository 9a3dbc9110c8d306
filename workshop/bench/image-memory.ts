import { keyScopes } from '../../src/base/key-scope.ts';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startMongo } from '../../test/support/servers.ts';

/**
 * What large answers cost in memory: 20 image answers of 20 MB of base64 each, all in flight at once, held by callers
 * who do not read until the last one is there. The gateway is a process of its own; its resident memory is read from
 * /proc (Linux). Run: npx tsx workshop/bench/image-memory.ts [answers] [megabytes]
 */

const answers = Number(process.argv[2] ?? 20);
const megabytes = Number(process.argv[3] ?? 20);
/** Whether memory is used again, or grows from round to round. */
const rounds = 4;
const answerBytes = megabytes * 1024 * 1024;
const self = fileURLToPath(import.meta.url);
const upstreamMode = 'upstream';

if (process.argv[2] === upstreamMode) serveImages(Number(process.argv[3]));
else await measure();

/** An upstream of its own process, so that its memory is not ours. */
function serveImages(bytes: number): void {
  const body = Buffer.from(`{"created":1,"data":[{"b64_json":"${'QUJD'.repeat(bytes / 4)}"}]}`);
  const server = createServer((call, response) => {
    call.resume();
    call.on('end', () => {
      // Without a length, as real upstreams behind a proxy answer.
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(body);
    });
  });
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
  });
}

async function measure(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'mediary-image-memory-'));
  const mongo = await startMongo({ dir: join(directory, 'mongo') });
  const children: ChildProcess[] = [];
  try {
    const upstream = await start([self, upstreamMode, String(answerBytes)], {});
    children.push(upstream.child);
    const adminToken = randomBytes(16).toString('hex');
    writeFileSync(join(directory, 'gateway.yaml'), yaml(upstream.url));
    const gateway = await start(
      [fileURLToPath(new URL('../../test/images/api-process.ts', import.meta.url))],
      {
        GATEWAY_CONFIG: join(directory, 'gateway.yaml'),
        MONGODB_URI: mongo.uri.replace('/?', '/bench?'),
        // Never called: synchronous images are not workflows.
        TEMPORAL_ADDRESS: '127.0.0.1:1',
        SECRETS_KEY: randomBytes(32).toString('base64'),
        ADMIN_TOKEN: adminToken,
        HOST: '127.0.0.1',
        PORT: '0',
      },
    );
    children.push(gateway.child);
    const key = await makeKey(gateway.url, adminToken);
    const pid = gateway.child.pid ?? 0;
    // The code paths are compiled and the buffers of a first round allocated and gone.
    for (let n = 0; n < 3; n += 1) await oneAnswer(gateway.url, key, Promise.resolve());
    await delay(2_000);
    const before = residentBytes(pid);
    const peaks: number[] = [];
    for (let n = 0; n < rounds; n += 1) {
      peaks.push(await peakOfRound(gateway.url, key, pid));
      await delay(1_000);
    }
    const peak = Math.max(...peaks);
    const flight = answers * answerBytes;
    const line = (name: string, bytes: number): string =>
      `${name.padEnd(34)}${(bytes / 1024 / 1024).toFixed(0).padStart(6)} MB`;
    process.stdout.write(
      [
        `${answers} answers of ${megabytes} MB at a time`,
        line('base64 in flight', flight),
        line('resident before', before),
        ...peaks.map((bytes, n) => line(`resident at the peak of round ${n + 1}`, bytes)),
        `peak − before, per byte in flight${((peak - before) / flight).toFixed(2).padStart(9)}`,
        '',
      ].join('\n'),
    );
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await mongo.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Started {
  readonly child: ChildProcess;
  readonly url: string;
}

function start(script: readonly string[], environment: Record<string, string>): Promise<Started> {
  const child = spawn(process.execPath, ['--import', 'tsx', ...script], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`exited with ${code}`)));
    child.stdout.once('data', (line: Buffer) => resolve({ child, url: line.toString().trim() }));
  });
}

async function makeKey(url: string, adminToken: string): Promise<string> {
  const admin = async (path: string, body: unknown): Promise<any> => {
    const response = await fetch(`${url}/admin/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return response.json();
  };
  await admin('/accounts', { id: 'bench', name: 'bench' });
  await admin('/accounts/bench/credits', { amount: '1000', reference: 'bench' });
  return (await admin('/keys', { account: 'bench', name: 'bench', scopes: keyScopes })).key;
}

async function peakOfRound(url: string, key: string, pid: number): Promise<number> {
  let peak = 0;
  const sampler = setInterval(() => (peak = Math.max(peak, residentBytes(pid))), 10);
  let began = 0;
  let release: () => void = () => undefined;
  const everybody = new Promise<void>((resolve) => (release = resolve));
  const calls = Array.from({ length: answers }, () =>
    oneAnswer(url, key, everybody, () => {
      began += 1;
    }),
  );
  while (began < answers) await delay(10);
  await delay(1_000);
  release();
  const received = await Promise.all(calls);
  clearInterval(sampler);
  if (received.some((bytes) => bytes < answerBytes)) throw new Error('an answer was cut');
  return peak;
}

/** Reads nothing of the answer before `go`. Resolves with its length. */
function oneAnswer(url: string, key: string, go: Promise<void>, onBegin?: () => void): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(
      `${url}/v1/images/generations`,
      { method: 'POST', headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' } },
      (response: IncomingMessage) => {
        onBegin?.();
        let bytes = 0;
        void go.then(() => {
          response.on('data', (chunk: Buffer) => (bytes += chunk.length));
          response.on('end', () => resolve(bytes));
        });
      },
    );
    call.on('error', reject);
    call.end(JSON.stringify({ model: 'image', prompt: 'a red cube' }));
  });
}

function residentBytes(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

function yaml(upstream: string): string {
  return `
currency: USD
channels:
  - id: upstream
    provider: openai
    base_url: ${upstream}
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    models: { image: { upstream: gpt-image-1.5 } }
models:
  - id: image
    kind: image
    price: { lines: [{ measure: image, price: "0.01" }] }
`;
}
