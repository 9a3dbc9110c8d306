import { request } from 'undici';
import { z } from 'zod';
import { ensureLedgerIndexes } from '../../src/ledger/collection.ts';
import { connectMongo } from '../../src/store/mongo.ts';
import { startHelper } from '../stand/helper.ts';
import { ledgerReport, type LedgerOrder, type LedgerReport } from './support/ledger-order.ts';
import { startBenchGateway, type BenchGateway } from './support/gateway.ts';
import type { BenchOptions } from './support/options.ts';
import { megabytes, short, times, type Goal, type Report, type Row } from './support/report.ts';
import type { Stand } from '../stand/stand.ts';
import { measureCpu, usageOf } from './support/usage.ts';

/**
 * Measures how fast one process and four processes append entries to a single busy account. This is compared with the
 * rate at which MongoDB inserts single documents of that size. Also measures a verification.
 */

const callers = 64;
const processesMax = 4;
const verifyGoalSeconds = 60;

interface Subject {
  readonly name: string;
  readonly order: Pick<LedgerOrder, 'work' | 'concurrency' | 'accounts'>;
  readonly processes: number;
}

const subjects = {
  insertOne: {
    name: 'insertOne, one connection',
    order: { work: 'insertOne', concurrency: 1, accounts: 1 },
    processes: 1,
  },
  hot: { name: 'hot account', order: { work: 'append', concurrency: callers, accounts: 1 }, processes: 1 },
  four: {
    name: 'hot account, four processes',
    order: { work: 'append', concurrency: callers / processesMax, accounts: 1 },
    processes: processesMax,
  },
} as const satisfies Readonly<Record<string, Subject>>;

interface Measured {
  readonly rate: number;
  readonly cpuMs: number;
  readonly collisions: number;
}

export async function benchLedger(options: BenchOptions, stand: Stand): Promise<Report> {
  const seconds = options.seconds ?? (options.quick ? 1 : 5);
  const rounds = options.rounds ?? (options.quick ? 1 : 3);
  const entries = options.count ?? (options.quick ? 2_000 : 1_000_000);
  const only = options.only ?? ['append', 'verify'];
  const uri = stand.mongodbUri;
  const measured = new Map<string, Measured[]>(Object.values(subjects).map(({ name }) => [name, []]));
  const common = { uri: databaseAt(uri, 'append'), seconds, entries };
  if (only.includes('append')) {
    await prepare(common.uri);
    for (let round = 0; round <= rounds; round += 1) await turn(common, round === 0 ? undefined : measured);
  }
  const verified = only.includes('verify')
    ? await verifications({ stand, entries, profile: options.profile })
    : [];
  const rates = Object.values(subjects).map(({ name }) => ({ name, ...middle(measured.get(name) ?? []) }));
  return {
    setting: { rounds, seconds, callers },
    tables: [
      ...(only.includes('append') ? [{ title: 'Appends', rows: rates.map(rowOf) }] : []),
      ...(verified.length > 0 ? [{ title: 'ledger verify', rows: verified.map(verifiedRow) }] : []),
    ],
    goals: [...appendGoals(rates), ...verified.map(verifyGoal)],
    raw: { measured: Object.fromEntries(measured), verified },
  };
}

/** The first round does not count, because the server is still compiling its code. */
async function turn(
  common: Pick<LedgerOrder, 'uri' | 'seconds' | 'entries'>,
  measured: ReadonlyMap<string, Measured[]> | undefined,
): Promise<void> {
  for (const { name, order, processes } of Object.values(subjects)) {
    const result = sum(await inProcesses({ ...common, ...order }, processes));
    measured?.get(name)?.push(result);
  }
}

function databaseAt(uri: string, name: string): string {
  const url = new URL(uri);
  url.pathname = `/bench_ledger_${name}`;
  return url.href;
}

async function prepare(uri: string): Promise<void> {
  const mongo = await connectMongo(uri);
  await ensureLedgerIndexes(mongo.db);
  await mongo.close();
}

async function inProcesses(order: LedgerOrder, count: number): Promise<LedgerReport[]> {
  const script = new URL('support/ledger-process.ts', import.meta.url);
  const helpers = Array.from({ length: count }, () => startHelper(script));
  try {
    await Promise.all(helpers.map((helper) => helper.order(z.object({}), order)));
    return await Promise.all(helpers.map((helper) => helper.order(ledgerReport, { work: 'go' })));
  } finally {
    for (const helper of helpers) helper.end();
  }
}

function sum(reports: readonly LedgerReport[]): Measured {
  const total = (of: (report: LedgerReport) => number): number =>
    reports.reduce((all, report) => all + of(report), 0);
  return {
    rate: total(({ appends, seconds }) => appends / seconds),
    cpuMs: total(({ cpuMs }) => cpuMs) / total(({ appends }) => appends),
    collisions: total(({ collisions }) => collisions) / total(({ appends }) => appends),
  };
}

function middle(all: readonly Measured[]): Measured {
  const sorted = all.toSorted((a, b) => a.rate - b.rate);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? { rate: 0, cpuMs: 0, collisions: 0 };
}

type Rate = Measured & Pick<Subject, 'name'>;

function rowOf({ name, rate, cpuMs, collisions }: Rate): Row {
  return {
    subject: name,
    'entries a second': short(rate),
    'CPU per entry, ms': short(cpuMs),
    'collisions per entry': short(collisions),
  };
}

function appendGoals(rates: readonly Rate[]): Goal[] {
  const [one, hot, four] = rates.map(({ rate }) => rate);
  if (one === undefined || hot === undefined || four === undefined || one === 0) return [];
  return [
    {
      what: 'a hot account, relative to insertOne',
      goal: '3.00 ×',
      measured: times(hot, one),
      met: hot >= 3 * one,
    },
    {
      what: 'four processes, relative to insertOne',
      goal: '1.00 ×',
      measured: times(four, one),
      met: four >= one,
    },
    { what: 'four processes, relative to one', goal: '1.00 ×', measured: times(four, hot), met: four >= hot },
  ];
}

interface Verified {
  readonly name: string;
  readonly entries: number;
  readonly seconds: number;
  readonly violations: number;
  readonly peakBytes: number;
  readonly cpu: Readonly<Record<string, number>>;
}

interface Verifying extends Pick<BenchOptions, 'profile'> {
  readonly stand: Stand;
  readonly entries: number;
}

async function verifications({ stand, entries, profile }: Verifying): Promise<Verified[]> {
  const done: Verified[] = [];
  for (const accounts of [1, 1_000]) {
    const prefix = `verify-${accounts}-`;
    const gateway = await startBenchGateway(stand, { profile, prefix });
    for (const name of ['worker', 'simulator']) await stand.endProgram(prefix + name);
    const { MONGODB_URI: uri = '', SECRETS_KEY: secretsKey = '' } = gateway.environment;
    await inProcesses({ uri, secretsKey, concurrency: 1, seconds: 0, accounts, entries, work: 'fill' }, 1);
    const name = accounts === 1 ? 'one account' : '1,000 accounts';
    const api = `${prefix}api`;
    const verified = await verify(gateway, { stand, api });
    done.push({ name, ...verified });
    await gateway.close();
    await stand.endProgram(api);
  }
  return done;
}

async function verify(
  { url, adminToken }: BenchGateway,
  { stand, api }: { readonly stand: Stand; readonly api: string },
): Promise<Omit<Verified, 'name'>> {
  const cpu = await measureCpu(stand.pids);
  const startedAt = performance.now();
  const answer = await request(`${url}/admin/v1/ledger/verify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}` },
    bodyTimeout: 60_000,
  });
  const lines = (await answer.body.text()).trim().split('\n');
  const seconds = (performance.now() - startedAt) / 1000;
  const { result } = JSON.parse(lines.at(-1) ?? '{}');
  if (result === undefined) throw new Error(`the ledger could not be verified: ${lines.at(-1)}`);
  const used = Object.entries(await cpu.stop()).filter(([name]) => name === api || name === 'mongodb');
  const { bytes, peakBytes = bytes } = await usageOf(stand.pids[api] ?? process.pid);
  const { entries, violation_count: violations } = result;
  return {
    entries,
    violations,
    seconds,
    peakBytes,
    cpu: Object.fromEntries(used.map(([name, ms]) => [name === api ? 'api' : name, ms / 1000])),
  };
}

function verifiedRow({ name, entries, seconds, cpu, peakBytes, violations }: Verified): Row {
  return {
    ledger: name,
    entries,
    seconds: short(seconds),
    'entries a second': short(entries / seconds),
    ...Object.fromEntries(Object.entries(cpu).map(([of, used]) => [`CPU s, ${of}`, short(used)])),
    'peak memory': megabytes(peakBytes),
    violations,
  };
}

function verifyGoal({ name, seconds, entries }: Verified): Goal {
  const forMillion = (seconds * 1_000_000) / entries;
  return {
    what: `a million entries, ${name}`,
    goal: `${verifyGoalSeconds} s`,
    measured: `${short(forMillion)} s`,
    met: forMillion <= verifyGoalSeconds,
  };
}
