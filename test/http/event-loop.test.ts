import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { ClientRequest, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { imageYaml, pixel } from '../images/support.ts';
import { adminCaller, caller, makeAccount } from '../support/client.ts';
import { testEnvironment } from '../support/gateway.ts';
import type { Probe } from '../support/event-loop-probe.ts';
import { hostileCorpus } from '../support/hostile-corpus.ts';
import type { HostileRequest } from '../support/hostile-corpus.ts';

/** What nothing that a caller sends may exceed, on a machine that is not slower than `referenceMs` says. */
const stallMsMax = 50;
const turns = 8;
const heapMegabytes = 640;
const residentBytesMax = 900 * 1024 * 1024;

let upstream: Server;
let directory: string;
let child: ChildProcess;
let url: string;
let key: string;
beforeAll(async () => {
  upstream = createServer((received, response) => {
    const data = [{ b64_json: pixel.toString('base64') }];
    received.resume().on('end', () => response.end(JSON.stringify({ created: 1, data })));
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  directory = await mkdtemp(join(tmpdir(), 'mediary-loop-'));
  const config = join(directory, 'gateway.yaml');
  await writeFile(config, imageYaml({ first: upstreamUrl }));
  const adminToken = 'operators-of-this-test';
  child = spawn(
    process.execPath,
    [
      `--max-old-space-size=${heapMegabytes}`,
      '--import',
      'tsx',
      '--import',
      './test/support/event-loop-probe.ts',
      'test/images/api-process.ts',
    ],
    {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: {
        PATH: process.env['PATH'],
        PROBE_FILE: join(directory, 'probe.json'),
        TMPDIR: directory,
        ...(await testEnvironment('event-loop', { GATEWAY_CONFIG: config, ADMIN_TOKEN: adminToken })),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
  url = line.toString().trim();
  ({ key } = await makeAccount({ url, admin: adminCaller(url, adminToken), video: {} }));
});
afterAll(async () => {
  child.kill('SIGKILL');
  upstream.closeAllConnections();
  upstream.close();
  await rm(directory, { recursive: true, force: true });
});

/** Resolves with the status; 0 where the connection ended without an answer. */
function send({ path, headers, pieces }: HostileRequest): Promise<number> {
  return new Promise((resolve) => {
    const sending = request(`${url}${path}`, {
      method: 'POST',
      agent: false,
      headers: { authorization: `Bearer ${key}`, ...headers },
    });
    sending.on('response', (response) =>
      response.resume().on('end', () => resolve(response.statusCode ?? 0)),
    );
    sending.on('error', () => resolve(0));
    void (async () => {
      for (const piece of pieces()) {
        if (sending.destroyed) return;
        if (!sending.write(piece)) await drained(sending);
      }
      sending.end();
    })().catch(() => undefined);
  });
}

function drained(sending: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      sending.off('drain', end).off('close', end);
      resolve();
    };
    sending.on('drain', end).on('close', end);
  });
}

/** Of the measurement that was begun last. Not there: the process has not written yet. */
async function readProbe(): Promise<Probe | undefined> {
  const text = await readFile(join(directory, 'probe.json'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Probe);
}

/** The next state of the probe that this holds for. */
async function probeOnce(isIt: (probe: Probe) => boolean): Promise<Probe> {
  for (;;) {
    const probe = await readProbe();
    if (probe !== undefined && isIt(probe)) return probe;
    await sleep(50);
  }
}

async function measure(action: () => Promise<unknown>): Promise<Probe> {
  const before = await probeOnce(() => true);
  child.kill('SIGUSR2');
  const { begun } = await probeOnce((probe) => probe.begun > before.begun && probe.written > 0);
  await action();
  // The one that is being written now may have begun before the action's last turn.
  const { written } = await probeOnce(() => true);
  return probeOnce((probe) => probe.begun === begun && probe.written > written + 1);
}

/** With TEST_REPORT, what was measured is printed. */
function report(line: string): void {
  if (process.env['TEST_REPORT'] !== undefined) process.stderr.write(`${line}\n`);
}

/** How much slower this machine is, right now, than one on which the limit was set: at least 1. */
function slowness(): number {
  const referenceMs = 12;
  const text = JSON.stringify(Array.from({ length: 60_000 }, (_, n) => ({ n })));
  const startedAt = process.cpuUsage();
  JSON.parse(text);
  const { user, system } = process.cpuUsage(startedAt);
  return Math.max(1, (user + system) / 1000 / referenceMs);
}

describe('hostile requests', () => {
  it('warm up: what is compiled once is not what they cost', async () => {
    for (const each of hostileCorpus) await send(each);
    expect((await caller(url)('GET', '/healthz')).status).toBe(200);
  }, 240_000);

  it.each(hostileCorpus)('$name', async (each) => {
    let share = Infinity;
    // A stall that the request causes is there each time; one that the machine causes is not.
    for (let turn = 0; turn < turns && share >= 1; turn += 1) {
      let status = 0;
      const before = slowness();
      const { longestStallMs, peakBytes } = await measure(async () => (status = await send(each)));
      report(
        `${each.name}: ${status}, ${longestStallMs.toFixed(1)} ms, ${Math.round(peakBytes / 1048576)} MiB`,
      );
      expect([0, 200, 400, 413]).toContain(status);
      expect(peakBytes).toBeLessThan(residentBytesMax);
      share = Math.min(share, longestStallMs / (stallMsMax * Math.max(before, slowness())));
    }
    expect(share, 'the longest stall as a share of what is allowed').toBeLessThan(1);
  });

  it('sixteen uploads of 64 MiB that stall, and all of the corpus at once, leave the service alive', async () => {
    const { peakBytes } = await measure(async () => {
      const stalled = Array.from({ length: 16 }, () =>
        request(`${url}/v1/images/generations`, {
          method: 'POST',
          agent: false,
          headers: {
            authorization: `Bearer ${key}`,
            'content-type': 'application/json',
            'content-length': String(64 * 1024 * 1024),
          },
        }).on('error', () => undefined),
      );
      for (const each of stalled) each.write(`{"prompt":"${'x'.repeat(900_000)}`);
      await Promise.all(hostileCorpus.map(send));
      for (const each of stalled) each.destroy();
    });
    expect(peakBytes).toBeLessThan(residentBytesMax);
    expect((await caller(url)('GET', '/healthz')).status).toBe(200);
    expect(child.exitCode).toBeNull();
  });
});
