import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { caller } from '../support/client.ts';
import type { Probe } from '../support/event-loop-probe.ts';
import { startHostileApi, type HostileApi } from '../support/hostile-api.ts';
import { hostileCorpus, type HostileRequest } from '../support/hostile-corpus.ts';
import { pipelinedCopies, shoot, type Framing } from '../support/hostile-wire.ts';

/**
 * The limit for one turn of the event loop, in milliseconds of CPU time on the reference machine (see `referenceMs`).
 * On an idle machine, most requests need less than half of this. While other tests run, a garbage collection alone can
 * take 65 ms.
 */
const stallMsMax = 100;
const growthBytesMax = 100 * 1024 * 1024;
const turns = 8;
const answeredWithinMs = 20_000;

let api: HostileApi;
let key: string;
beforeAll(async () => {
  api = await startHostileApi('event-loop');
  ({ key } = await api.account());
});
afterAll(() => api.close());

interface Shape {
  readonly framing: Framing;
  readonly isPipelined?: boolean;
  readonly hasKey: boolean;
}

interface Variant extends Shape {
  readonly name: string;
}

const variants: readonly Variant[] = [
  { name: 'in chunks, with a key', framing: 'chunks', hasKey: true },
  { name: 'in pieces of one byte, with a key', framing: 'bytes', hasKey: true },
  { name: 'in pieces of one byte, without a key', framing: 'bytes', hasKey: false },
  { name: 'pipelined, with a key', framing: 'length', isPipelined: true, hasKey: true },
  { name: 'pipelined, without a key', framing: 'length', isPipelined: true, hasKey: false },
];

function send(each: HostileRequest, variant: Shape): Promise<readonly number[]> {
  const { framing, isPipelined = false, hasKey } = variant;
  const headers = hasKey ? { authorization: `Bearer ${key}`, ...each.headers } : each.headers;
  const request = { ...each, headers };
  const copies = isPipelined ? pipelinedCopies(request) : 1;
  return shoot({ url: api.url }, { request, framing, copies, withinMs: answeredWithinMs });
}

function report(name: string, statuses: readonly number[], probe: Probe): void {
  if (process.env['TEST_REPORT'] === undefined) return;
  const growth = Math.round(growthOf(probe) / 1048576);
  const stall = probe.longestStallMs.toFixed(1);
  process.stderr.write(`${name}: ${[...new Set(statuses)].join('/')}, ${stall} ms, +${growth} MiB\n`);
}

const growthOf = ({ peakBytes, idleBytes }: Probe): number => peakBytes - idleBytes;

const referenceMs = 12;
const referenceText = JSON.stringify(Array.from({ length: 60_000 }, (_, n) => ({ n })));
/** Returns how many times slower this machine is than the reference machine, and at least 1. */
function slowness(): number {
  const startedAt = process.cpuUsage();
  JSON.parse(referenceText);
  const { user, system } = process.cpuUsage(startedAt);
  return Math.max(1, (user + system) / 1000 / referenceMs);
}

/**
 * A stall or growth that the request causes appears in every run. One that the machine or earlier garbage causes does
 * not. The request therefore runs several times, and only its lowest values count.
 */
async function leastShares(each: HostileRequest, variant: Variant) {
  const least = { stall: Infinity, growth: Infinity };
  for (let turn = 0; turn < turns && (least.stall >= 1 || least.growth >= 1); turn += 1) {
    let statuses: readonly number[] = [];
    const before = slowness();
    const probe = await api.measure(async () => (statuses = await send(each, variant)));
    report(`${each.name}, ${variant.name}`, statuses, probe);
    for (const status of statuses) expect([200, 400, 401, 413, 429]).toContain(status);
    const allowedMs = stallMsMax * Math.max(before, slowness());
    least.stall = Math.min(least.stall, probe.longestStallMs / allowedMs);
    least.growth = Math.min(least.growth, growthOf(probe) / growthBytesMax);
  }
  return least;
}

const kindsOfBodies: readonly HostileRequest[] = [
  ...new Map(hostileCorpus.map((each) => [`${each.path} ${each.headers['content-type']}`, each])).values(),
];

it('warms up, so that compilation does not count', async () => {
  for (const each of kindsOfBodies) await send(each, { framing: 'chunks', hasKey: true });
  expect((await caller(api.url)('GET', '/healthz')).status).toBe(200);
});

/**
 * A request that has no key, or that arrives in one-byte pieces, is rejected before its body is parsed, so its content
 * does not matter.
 */
function bodiesFor({ hasKey, framing, isPipelined }: Variant): readonly HostileRequest[] {
  if (!hasKey || framing === 'bytes') return kindsOfBodies;
  return isPipelined === true ? hostileCorpus.filter(isWorthPipelining) : hostileCorpus;
}

/**
 * Large bodies on one connection are read one after the other, so pipelining one of them is enough to show that two are
 * never in memory.
 */
function isWorthPipelining(each: HostileRequest): boolean {
  return pipelinedCopies(each) > 2 || each.name === '62 MiB of one image for gpt-image';
}

describe.each(variants)('hostile requests $name', (variant) => {
  it.each(bodiesFor(variant))('$name', async (each) => {
    const { stall, growth } = await leastShares(each, variant);
    expect(stall, 'the longest stall as a share of what is allowed').toBeLessThan(1);
    expect(growth, 'the growth as a share of what is allowed').toBeLessThan(1);
  });
});

describe('many at once', () => {
  const residentBytesMax = 900 * 1024 * 1024;

  it('sixteen uploads of 64 MiB that stall, and all of the corpus at once, leave the service alive', async () => {
    const { peakBytes } = await api.measure(async () => {
      const stalled = Array.from({ length: 16 }, () =>
        request(`${api.url}/v1/images/generations`, {
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
      await Promise.all(hostileCorpus.map((each) => send(each, { framing: 'length', hasKey: true })));
      for (const each of stalled) each.destroy();
    });
    expect(peakBytes).toBeLessThan(residentBytesMax);
    expect((await caller(api.url)('GET', '/healthz')).status).toBe(200);
    expect(api.isAlive()).toBe(true);
  });
});
