import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestAccount } from '../support/client.ts';
import { startHostileApi, type HostileApi } from '../support/hostile-api.ts';
import { openWire, pipelinedCopies, shoot, wireOf } from '../support/hostile-wire.ts';
import type { WireConnection, WireRequest } from '../support/hostile-wire.ts';

const kibibyte = 1024;
const growthBytesMax = 100 * 1024 * kibibyte;
const answeredWithinMs = 60_000;
const ownDelayNsMax = 5e9;
const refusals = [400, 401, 404, 408, 413, 429];

let api: HostileApi;
let isStarted = false;
let attacker: TestAccount;
let victim: TestAccount;
beforeEach(async () => {
  // If a test has crashed the process, start a new one for the remaining tests.
  if (isStarted && api.isAlive()) return;
  if (isStarted) await api.close();
  api = await startHostileApi('hostile-framing');
  isStarted = true;
  attacker = await api.account();
  victim = await api.account();
});
afterAll(() => api.close());

/** Limits apply per IP address, so each attacker gets its own. On Linux, these addresses need no configuration. */
const addressOf = (last: number) => (process.platform === 'linux' ? { localAddress: `127.0.0.${last}` } : {});
const json = { 'content-type': 'application/json' };
const bearer = ({ key }: TestAccount) => ({ authorization: `Bearer ${key}` });
const get = (path: string, headers = {}): WireRequest => ({ method: 'GET', path, headers });

const attack = (reads = true): Promise<WireConnection> => openWire({ url: api.url, ...addressOf(3), reads });

async function askAsVictim(): Promise<readonly number[]> {
  const requests = [get('/healthz'), get('/v1/models', bearer(victim))];
  const answers = await Promise.all(
    requests.map((request) =>
      shoot({ url: api.url, ...addressOf(2) }, { request, framing: 'length', withinMs: answeredWithinMs }),
    ),
  );
  return answers.flat();
}

async function expectUnnoticed(act: () => Promise<unknown>): Promise<void> {
  let isOver = false;
  const got: number[] = [];
  const ownDelay = monitorEventLoopDelay();
  ownDelay.enable();
  const { peakBytes, idleBytes } = await api.measure(async () => {
    const acting = act().finally(() => (isOver = true));
    while (!isOver) {
      got.push(...(await askAsVictim()));
      await delay(100);
    }
    await acting;
    got.push(...(await askAsVictim()));
  });
  expect(api.isAlive()).toBe(true);
  ownDelay.disable();
  // On a busy machine, the victim may have sent its own request too late.
  const expected = ownDelay.max > ownDelayNsMax ? [200, 408] : [200];
  expect([...new Set(got)].filter((status) => !expected.includes(status))).toEqual([]);
  expect(peakBytes - idleBytes).toBeLessThan(growthBytesMax);
}

describe('bodies in pieces of one byte', () => {
  /** Never finishes the request, so the server has to keep its bytes in memory. */
  async function sendBytes(request: WireRequest, bytes: number): Promise<WireConnection> {
    const wire = await attack();
    const whole = [...wireOf({ ...request, pieces: () => [Buffer.alloc(bytes, ' ')] }, 'bytes')];
    for (const piece of whole.slice(0, -1)) {
      if (!wire.isOpen() || wire.answers.length > 0) break;
      await wire.write(piece);
    }
    return wire;
  }

  async function sendMany(count: number, send: () => Promise<WireConnection>): Promise<void> {
    const wires = await Promise.all(Array.from({ length: count }, send));
    await askAsVictim();
    for (const { answers } of wires) for (const status of answers) expect(refusals).toContain(status);
    for (const wire of wires) wire.destroy();
  }

  it('80 of them on the upstreams’ route, without a key', async () => {
    const path = `/callbacks/upstream/task_${'0'.repeat(22)}/${'0'.repeat(32)}`;
    await expectUnnoticed(() => sendMany(80, () => sendBytes({ path, headers: json }, 64 * kibibyte - 1)));
  });

  it.each([
    ['a video', '/v1/videos/generations'],
    ['an image', '/v1/images/generations'],
  ])('eight creates of %s, with a key', async (_name, path) => {
    const headers = { ...json, ...bearer(attacker) };
    await expectUnnoticed(() => sendMany(8, () => sendBytes({ path, headers }, 1023 * kibibyte)));
  });

  it('a small body is still read', async () => {
    const request = {
      path: '/v1/images/generations',
      headers: { ...json, ...bearer(attacker) },
      pieces: () => ['{"model":"gpt-image","prompt":"x"}'],
    };
    const shot = { request, framing: 'bytes', withinMs: answeredWithinMs } as const;
    expect(await shoot({ url: api.url, ...addressOf(4) }, shot)).toEqual([200]);
  });
});

describe('pipelined requests', () => {
  const document = get('/openapi.json');

  async function pipeline(request: WireRequest, copies: number, reads = true): Promise<WireConnection> {
    const wire = await attack(reads);
    const [each] = wireOf(request, 'length');
    void wire.write(Buffer.alloc(copies * (each?.length ?? 0), each));
    return wire;
  }

  it('the ninth connection does not wait for the 1,000 requests on each of the others', async () => {
    const copies = 1_000;
    await expectUnnoticed(async () => {
      const wires = await Promise.all(Array.from({ length: 8 }, () => pipeline(document, copies)));
      expect(await askAsVictim()).toEqual([200, 200]);
      for (const { answers } of wires) {
        expect(answers.filter((status) => status === 200).length).toBeLessThan(copies / 2);
        for (const status of answers) expect([200, 429]).toContain(status);
      }
      for (const wire of wires) wire.destroy();
    });
  });

  it.each(['/openapi.json', '/healthz', '/metrics'])(
    '4 MB of %s, whose responses nobody reads',
    async (path) => {
      await expectUnnoticed(async () => {
        const request = get(path);
        const wires = await Promise.all(
          Array.from({ length: 8 }, () => pipeline(request, pipelinedCopies(request), false)),
        );
        for (let turn = 0; turn < 5; turn += 1) expect(await askAsVictim()).toEqual([200, 200]);
        for (const wire of wires) wire.destroy();
      });
    },
  );

  it('each gets its own response, in order, however slowly', async () => {
    const wire = await openWire({ url: api.url, ...addressOf(4) });
    const each = [get('/healthz'), get('/no-such-route'), get('/v1/models', bearer(attacker))];
    await wire.write(Buffer.concat(each.flatMap((request) => [...wireOf(request, 'length')])));
    expect(await wire.answered(each.length, answeredWithinMs)).toBe(true);
    expect(wire.answers).toEqual([200, 404, 200]);
    wire.destroy();
  });
});
